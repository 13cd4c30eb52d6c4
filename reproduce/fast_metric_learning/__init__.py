"""Oneață, "Fast low-rank metric learning": tables 5.1 to 5.10, B.1 to B.6, and the figures."""

from reproduce.experiment import Experiment, Paper
from reproduce.fast_metric_learning import accuracy, curves, linear, projections, sets, trees

_LARGE = ("usps", "magic", "mnist")
_RULES = "1-NN and the NCA rule"


def _table(name: str, what: str, kept_with: str, *needs: str) -> Experiment:
    """A table of accuracy; those that share methods and sets share what was measured."""
    return Experiment(
        name, what, accuracy.measure, needs=sets.names_of(*needs), kept_with=kept_with
    )


def _starts(name: str, number: str, of: str, inits: str) -> Experiment:
    return Experiment(
        name,
        f"Figure {number}, starts on {of}",
        projections.measure_start,
        projections.draw_starts,
        f"All rows of {of} in the plane, columns in units of their deviation. Above: the starts "
        f"({inits}); below: what conjugate gradients learn from them. f(A) in percent is the "
        "expected leave-one-out accuracy. Colors are classes.",
        sets.names_of(of),
    )


def _variants(name: str, number: str, of: str) -> Experiment:
    return Experiment(
        name,
        f"Figure {number}, {of} in the plane",
        projections.measure_variant,
        projections.draw_variants,
        f"Test rows of {of} under maps to two dimensions that mini-batches (MB) and stochastic "
        "rows (SL) have learned from the training rows; test accuracy above each. Colors are "
        "classes.",
        sets.names_of(of),
    )


_FIRST_B, _LAST_B = ("balance", "glass", "ionosphere"), ("iris", "wine", "yeast")

FAST_METRIC_LEARNING = Paper(
    "fast-metric-learning",
    "Fast low-rank metric learning (Oneață)",
    (
        Experiment(
            "figure-3-2",
            "Figure 3.2, early stopping on mnist",
            curves.measure_early_stopping,
            curves.draw_early_stopping,
            "Error of 5 % of the training rows of mnist, held back, after each update of "
            "mini-batch learning in five dimensions; learning ends 25 updates after the best.",
            sets.names_of("mnist"),
        ),
        _starts("figure-3-3", "3.3", "wine", "random, PCA, LDA"),
        Experiment(
            "figure-3-4",
            "Figure 3.4, dimensionality annealing on ionosphere",
            projections.measure_annealing,
            projections.draw_annealing,
            "All rows of ionosphere in the plane: conjugate gradients from a small random start of "
            "two rows, and from one of full rank whose dimensions were faded out one by one. The "
            "first of all starts; the table has means. Colors are classes.",
            sets.names_of("ionosphere"),
        ),
        Experiment(
            "figure-4-1",
            "Figure 4.1, sub-sampling wine",
            projections.measure_sample,
            projections.draw_sample,
            "A map learned from a third of the rows of wine: those rows (left), and all rows "
            "(right). The table has a half and a sixth of the rows, too. Colors are classes.",
            sets.names_of("wine"),
        ),
        Experiment(
            "figure-4-2",
            "Figure 4.2, soft assignments during training",
            curves.measure_assignments,
            curves.draw_assignments,
            "Probabilities with which a training row of segment picks each of the others, sorted, "
            "after some updates of the bold driver from a small random start in the plane.",
            sets.names_of("segment"),
        ),
        Experiment(
            "table-5-1",
            "Table 5.1, the data sets",
            sets.measure_shape,
            needs=sets.names_of(*sets.SETS),
        ),
        Experiment(
            "table-5-2",
            f"Table 5.2, classic NCA from random starts: {_RULES}",
            accuracy.measure_beside_euclid,
            needs=sets.names_of("balance", "ionosphere", "iris", "wine"),
        ),
        Experiment(
            "table-5-3",
            "Table 5.3, PCA, LDA and RCA: 1-NN",
            linear.measure,
            needs=sets.names_of(*_LARGE),
        ),
        Experiment(
            "figure-5-1",
            "Figure 5.1, dimensions on landsat",
            curves.measure_dimension,
            curves.draw_dimensions,
            "Test accuracy of stochastic rows (SL) on landsat, customary split, over the dimension "
            "of the projection; mean and one standard error over seeds.",
            sets.names_of("landsat"),
        ),
        _table("table-5-4", "Table 5.4, sub-sampling", "large", *_LARGE),
        _table("table-5-5", "Table 5.5, mini-batches", "large", *_LARGE),
        _table(
            "table-5-6",
            "Table 5.6, stochastic rows on small sets",
            "small",
            "balance",
            "ionosphere",
            "iris",
            "wine",
        ),
        _table("table-5-7", "Table 5.7, stochastic rows", "large", *_LARGE),
        Experiment(
            "figure-5-2",
            "Figure 5.2, accuracy against time",
            accuracy.measure,
            accuracy.draw_times,
            "Test accuracy (SS: 1-NN, others: NCA rule) against seconds of CPU on one thread, a "
            "point for each split; ellipses: two standard deviations of a Gaussian, deformed by "
            "the logarithmic axis, where there are three points or more.",
            sets.names_of(*_LARGE),
            kept_with="large",
        ),
        _variants("figure-5-3", "5.3", "usps"),
        _variants("figure-5-4", "5.4", "magic"),
        Experiment(
            "table-5-8",
            "Table 5.8, trees with several errors on landsat",
            trees.measure,
            needs=sets.names_of("landsat"),
        ),
        _table("table-5-9", "Table 5.9, stochastic rows with trees", "large", *_LARGE),
        Experiment(
            "figure-5-5",
            "Figure 5.5, points inspected with compact support",
            curves.measure_reach,
            curves.draw_reach,
            "Share of the training rows of usps within the support of a point's kernel, in the "
            "plane, after each update of stochastic rows with compact support (first run).",
            sets.names_of("usps"),
            kept_with="reach",
        ),
        Experiment(
            "figure-5-6",
            "Figure 5.6, projections with compact support",
            curves.measure_reach,
            curves.draw_reached,
            "Test rows of usps in the plane at the end of the fits of Figure 5.5. Colors are "
            "classes.",
            sets.names_of("usps"),
            kept_with="reach",
        ),
        _table(
            "table-5-10",
            "Table 5.10, stochastic rows with compact support",
            "large",
            *_LARGE,
        ),
        _starts("figure-b-1", "B.1", "iris", "random, PCA, LDA, RCA"),
        _starts("figure-b-2", "B.2", "balance", "random, PCA, LDA, RCA"),
        _starts("figure-b-3", "B.3", "ecoli", "random, PCA, LDA, RCA"),
        _table("table-b-1", "Table B.1, stochastic rows", "small", *_FIRST_B, "iris", "wine"),
        _table(
            "table-b-2",
            "Table B.2, stochastic rows",
            "small",
            *("yeast", "ecoli", "pima", "segment", "transfusion"),
        ),
        _table("table-b-3", "Table B.3, conjugate gradients and bold driver", "small", *_FIRST_B),
        _table("table-b-4", "Table B.4, conjugate gradients and bold driver", "small", *_LAST_B),
        _table("table-b-5", "Table B.5, compact support and background", "small", *_FIRST_B),
        _table("table-b-6", "Table B.6, compact support and background", "small", *_LAST_B),
    ),
)
