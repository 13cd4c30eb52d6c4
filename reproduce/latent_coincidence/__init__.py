"""Der and Saul, "Latent coincidence analysis": a poster, section by section."""

from reproduce.experiment import Experiment, Paper
from reproduce.latent_coincidence import (
    class_planes,
    inference,
    learning,
    mixture,
    neighbors,
    projections,
)
from reproduce.latent_coincidence.parts import SETS

LATENT_COINCIDENCE = Paper(
    "latent-coincidence",
    "Latent coincidence analysis (Der and Saul)",
    (
        Experiment(
            "inference",
            "Section 2.1, inference",
            inference.measure,
            inference.draw,
            "What the poster prints about a pair at a distance (red), and draws from its model "
            "(black), in the plane with σ² = 0.5 and κ = 1. Means are shares of the way from Wx to "
            "Wx'. Only the variance given y = 0 is not what is printed: a term is missing (blue).",
        ),
        Experiment(
            "learning",
            "Section 2.2, learning",
            learning.measure,
            learning.draw,
            "How far the log-likelihood of a pair is below its maximum after so many iterations "
            "of EM from one random start. With the variance as printed EM stays below.",
            needs=("iris", "balance-scale"),
        ),
        Experiment(
            "mixture",
            "Section 3.1, Gaussian mixture modeling",
            mixture.measure,
            mixture.draw,
            "Test error of classifiers that know a class by its mean and a covariance or a map, "
            "mean and one standard error over runs. LCA with maps of the most dimensions measured.",
            needs=SETS,
        ),
        Experiment(
            "class-planes",
            "Section 3.1, projections of classes",
            class_planes.measure,
            class_planes.draw,
            "Test rows around the mean of a class under the map to the plane that EM learned for "
            "it, in units of the root mean square of its own rows; a tenth of the others lies "
            "outside.",
            needs=("segment", "usps"),
        ),
        Experiment(
            "neighbors",
            "Section 3.2, distance metric learning",
            neighbors.measure,
            neighbors.draw,
            "Test error of 3 nearest neighbors by the Euclidean distance and by the metric of LCA "
            "with local length scales, mean and one standard error over runs.",
            needs=SETS,
        ),
        Experiment(
            "projections",
            "Section 3.2, projections to the plane",
            projections.measure,
            projections.draw,
            "Test rows in the plane of PCA, where EM starts, and in that of LCA, stopped early; "
            "colors are classes, numbers the test error of 3 nearest neighbors in the plane. A few "
            "outliers lie outside.",
            needs=("iris", "balance-scale", "segment", "usps"),
        ),
    ),
)
