"""Abou-Moustafa, Schuurmans, Ferrie: Table 2, Figure 3 and the tests of significance."""

from reproduce.divergence_spaces import drawing, significance, surfaces, table, untuned
from reproduce.divergence_spaces.data import SETS
from reproduce.experiment import Experiment, Paper

DIVERGENCE_SPACES = Paper(
    "divergence-spaces",
    "Divergence spaces (Abou-Moustafa, Schuurmans and Ferrie)",
    (
        Experiment(
            "table-2-euclid",
            "Table 2, columns of Euclid's distance",
            table.measure_euclid,
            drawing.draw_euclid,
            "Our numbers over the printed ones, the best over the paper's settings, for every set "
            "but corel. On the line both are the same.",
            needs=SETS,
            gather=table.gather_euclid,
        ),
        Experiment(
            "table-2",
            "Table 2, columns of divergences",
            table.measure_divergence,
            drawing.draw_divergences,
            "Adjusted Rand index of k-means, as printed, and ours in three ways: at the best of "
            "all settings, by the labels themselves, as the paper has it; at the best of as many "
            "settings as Euclid's distance has (one divergence and m, mean over these); and on "
            "one half of the labels at the setting that is best by the other (mean of 20 "
            "divisions). Dashes: the plain learners, printed (black) and ours (blue, where it was "
            "run in full), at the best of their settings.",
            needs=SETS,
            over=("divergence", "m"),
            gather=table.gather_divergences,
        ),
        Experiment(
            "untuned",
            "Table 2 without tuning",
            untuned.measure,
            untuned.draw,
            "Adjusted Rand index of k-means where nothing is chosen by labels: m by Brand's rule, "
            "15 neighbors in the graph or perplexity 30, as many dimensions as classes (t-SNE: 2). "
            "Black: Euclid.",
            needs=SETS,
        ),
        Experiment(
            "significance",
            "The Friedman and Bonferroni-Dunn tests",
            significance.measure,
            significance.draw,
            "By how many ranks embeddings by divergences are ahead of plain ones, among the four "
            "methods of Table 2. Black: the critical difference at 5 %; what ends below it is "
            "not significant. Sources that were measured for fewer than ten sets are left out.",
            needs=SETS,
        ),
        Experiment(
            "figure-3",
            "Figure 3, energy and loss over m and k",
            surfaces.measure,
            surfaces.draw,
            "Energy of the Laplacian (sum of the first eigenvalues, as many as classes) and loss "
            "of k-means in the embedding (eigenvectors of length 1), by Jeffreys' divergence. Red: "
            "the largest energy, of equal ones the smallest m and k.",
            over=("m",),
            gather=surfaces.gather,
            kept_with="surfaces",
        ),
        Experiment(
            "energy",
            "Section 4.2, choosing by the energy",
            surfaces.measure,
            surfaces.draw_rule,
            "Adjusted Rand index of k-means after Laplacian eigenmaps by Jeffreys' divergence over "
            "all m and k (box: quartiles; whiskers: least and largest), and at the largest energy.",
            needs=SETS,
            over=("m",),
            gather=surfaces.gather,
            kept_with="surfaces",
        ),
    ),
)
