"""Le Roux and Bach, "Local component analysis": figures 1 to 6."""

from reproduce.experiment import Experiment, Paper
from reproduce.local_components import clustering, segmentation, text, toys, usps

LOCAL_COMPONENTS = Paper(
    "local-components",
    "Local component analysis (Le Roux and Bach)",
    (
        Experiment(
            "figure-1",
            "Figure 1, words under PCA and LCA",
            text.measure,
            text.draw,
            "Above: points of the letters, made globally round by PCA (letters are compressed) and "
            "locally round by LCA. Below: how much wider letters became beside their height, for "
            "texts of several lengths and spacings (mean over seeds). LCA is to stay near 1.",
        ),
        Experiment(
            "figure-2",
            "Figure 2, the toy sets",
            toys.measure,
            toys.draw,
            "The three sets without noise, 1000 points each, colors by cluster.",
        ),
        Experiment(
            "figure-3",
            "Figure 3, clustering under dimensions of noise",
            clustering.measure_methods,
            clustering.draw_methods,
            "Permutation accuracy of spectral clustering, mean and one standard error over runs, "
            "as dimensions of Gaussian noise are added to each set of Figure 2. All methods but "
            "the first see whitened rows. Chance: 50 % for two clusters, 20 % for five. Where "
            "lines coincide, the thinner ones lie above.",
        ),
        Experiment(
            "figure-4",
            "Figure 4, iterations of EM",
            clustering.measure_iterations,
            clustering.draw_iterations,
            "Permutation accuracy of spectral clustering in the metric of LCA after some "
            "iterations of EM from the covariance of the data, mean and one standard error "
            "over runs.",
        ),
        Experiment(
            "figure-5",
            "Figure 5, test likelihood of the USPS digits",
            usps.measure_density,
            usps.draw_density,
            "Mean test negative log-likelihood of each density, as printed and as found here.",
            needs=("usps",),
        ),
        Experiment(
            "figure-6",
            "Figure 6, smaller batches and neighborhoods",
            usps.measure_subsampling,
            usps.draw_subsampling,
            "Loss of stochastic EM less that of EM over all points, leave-one-out on the training "
            "rows and on all other rows, mean and one standard error over runs.",
            needs=("usps",),
        ),
        Experiment(
            "mean-shift",
            "Conclusion, mean shift on an image",
            segmentation.measure,
            segmentation.draw,
            "Pixels climb a density of place and color to its modes; segments are shown in their "
            "mean color. The paper proposes this and shows no result.",
        ),
    ),
)
