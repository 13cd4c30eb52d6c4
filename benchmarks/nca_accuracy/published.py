"""Published accuracies of NCA and its variants."""

from typing import NamedTuple

from benchmarks.common.means import Mean

# Thesis (D.-T. Oneață, "Fast low-rank metric learning", 2011): test accuracy by the NCA rule.
THESIS = {
    # Tables B.3 and B.4: conjugate gradients.
    "classic": {
        ("balance-scale", 2): Mean(92.29, 0.56),
        ("balance-scale", 4): Mean(95.32, 0.33),
        ("glass", 2): Mean(54.2, 1.5),
        ("glass", 9): Mean(65.5, 1.8),
        ("ionosphere", 2): Mean(86.18, 0.75),
        ("ionosphere", 33): Mean(87.97, 0.68),
        ("iris", 2): Mean(94.11, 0.48),
        ("iris", 4): Mean(96.44, 0.46),
        ("wine", 2): Mean(96.57, 0.38),
        ("wine", 13): Mean(96.20, 0.48),
        ("yeast", 2): Mean(43.20, 0.84),
        ("yeast", 8): Mean(50.70, 0.52),
    },
    # Tables B.1 and B.2: stochastic learning.
    "stochastic": {
        ("balance-scale", 2): Mean(90.45, 0.38),
        ("balance-scale", 4): Mean(96.14, 0.29),
        ("glass", 2): Mean(59.0, 1.7),
        ("glass", 9): Mean(69.7, 1.6),
        ("ionosphere", 2): Mean(87.08, 0.95),
        ("ionosphere", 33): Mean(84.34, 0.59),
        ("iris", 2): Mean(97.00, 0.46),
        ("iris", 4): Mean(96.11, 0.66),
        ("wine", 2): Mean(97.50, 0.49),
        ("wine", 13): Mean(96.85, 0.41),
        ("yeast", 2): Mean(53.90, 0.47),
        ("yeast", 8): Mean(55.44, 0.56),
        ("ecoli", 2): Mean(81.98, 0.96),
        ("ecoli", 7): Mean(84.85, 0.48),
        ("pima", 2): Mean(76.65, 0.44),
        ("pima", 8): Mean(70.48, 0.81),
        ("segment", 2): Mean(88.80, 0.33),
        ("segment", 18): Mean(96.68, 0.30),
        ("transfusion", 2): Mean(78.78, 0.42),
        ("transfusion", 4): Mean(75.4, 2.9),
    },
    # Tables B.5 and B.6: NCA CS.
    "compact": {
        ("balance-scale", 2): Mean(89.04, 0.52),
        ("balance-scale", 4): Mean(92.07, 0.54),
        ("glass", 2): Mean(57.2, 1.7),
        ("glass", 9): Mean(57.8, 1.5),
        ("ionosphere", 2): Mean(85.33, 0.93),
        ("ionosphere", 33): Mean(66.09, 0.95),
        ("iris", 2): Mean(94.78, 0.72),
        ("iris", 4): Mean(95.67, 0.53),
        ("wine", 2): Mean(96.94, 0.44),
        ("wine", 13): Mean(92.59, 0.92),
        ("yeast", 2): Mean(48.31, 0.90),
        ("yeast", 8): Mean(54.89, 0.43),
    },
    # Tables B.5 and B.6: NCA CS BACK.
    "background": {
        ("balance-scale", 2): Mean(91.04, 0.94),
        ("balance-scale", 4): Mean(86.91, 0.30),
        ("glass", 2): Mean(59.4, 1.5),
        ("glass", 9): Mean(64.1, 1.3),
        ("ionosphere", 2): Mean(84.20, 0.74),
        ("ionosphere", 33): Mean(84.76, 0.83),
        ("iris", 2): Mean(95.11, 0.60),
        ("iris", 4): Mean(93.11, 0.95),
        ("wine", 2): Mean(97.59, 0.46),
        ("wine", 13): Mean(98.43, 0.30),
        ("yeast", 2): Mean(48.24, 0.79),
        ("yeast", 8): Mean(56.93, 0.62),
    },
}

# The project's spec of NCA, table "Accuracy to expect": its prototype ("here").
SPEC = {
    "classic": {
        ("iris", 2): 94.7,
        ("wine", 2): 98.3,
        ("ionosphere", 2): 85.6,
        ("glass", 9): 71.3,
        ("balance-scale", 2): 92.1,
        ("balance-scale", 4): 95.7,
        ("yeast", 8): 50.3,
        ("segment", 2): 88.5,
    },
    "stochastic": {
        ("iris", 2): 95.8,
        ("wine", 2): 98.9,
        ("ionosphere", 2): 85.0,
        ("glass", 9): 68.6,
        ("balance-scale", 2): 89.0,
        ("balance-scale", 4): 95.1,
        ("yeast", 8): 58.3,
        ("segment", 2): 90.3,
    },
    "RCA only": {
        ("iris", 2): 96.2,
        ("wine", 2): 98.9,
        ("ionosphere", 2): 85.0,
        ("glass", 9): 68.6,
        ("balance-scale", 2): 88.0,
        ("balance-scale", 4): 90.5,
        ("yeast", 8): 59.0,
        ("segment", 2): 78.6,
    },
    "compact": {
        ("iris", 2): 95.1,
        ("wine", 2): 99.1,
        ("ionosphere", 2): 87.3,
        ("glass", 9): 71.1,
        ("balance-scale", 2): 91.2,
        ("balance-scale", 4): 95.9,
    },
    "background": {
        ("iris", 2): 95.1,
        ("wine", 2): 98.7,
        ("ionosphere", 2): 86.0,
        ("glass", 9): 67.0,
        ("balance-scale", 2): 92.8,
        ("balance-scale", 4): 95.1,
    },
}


class Large(NamedTuple):
    """Published accuracies on a large set in five dimensions."""

    method: str
    rule: Mean | None
    nearest: Mean | None
    fifteen: Mean | None = None


LARGE_THESIS = {
    "landsat": [
        Large(
            "stochastic + k-d trees, ε = 0, customary split (5.8)",
            Mean(87.87, 0.24),
            Mean(86.30, 0.32),
        ),
        Large("the same, ε = 0.1 (5.8)", Mean(88.09, 0.19), Mean(86.12, 0.29)),
    ],
    "usps_roweis": [
        Large("3000 points (5.4)", Mean(89.41, 0.16), Mean(89.30, 0.18)),
        Large("mini-batches (5.5)", Mean(92.37, 0.17), Mean(91.26, 0.17)),
        Large("stochastic (5.7)", Mean(92.64, 0.17), Mean(90.68, 0.22)),
        Large("+ k-d trees (5.9)", Mean(92.67, 0.15), Mean(90.57, 0.20)),
        Large("+ compact support (5.10)", Mean(89.85, 0.30), Mean(87.02, 0.44)),
    ],
    "magic": [
        Large("3000 points (5.4)", Mean(80.22, 0.72), Mean(79.25, 0.45)),
        Large("mini-batches (5.5)", Mean(79.8, 1.1), Mean(79.14, 0.52)),
        Large("stochastic (5.7)", Mean(84.49, 0.12), Mean(79.76, 0.13)),
        Large("+ k-d trees (5.9)", Mean(84.50, 0.21), Mean(79.68, 0.30)),
        Large("+ compact support (5.10)", Mean(82.92, 0.36), Mean(79.09, 0.42)),
    ],
    "mnist": [
        Large("3000 points (5.4)", Mean(82.47), Mean(82.13)),
        Large("mini-batches (5.5)", Mean(89.88, 0.25), Mean(87.52, 0.36)),
        Large("stochastic (5.7)", Mean(89.35, 0.39), Mean(86.07, 0.43)),
        Large("+ k-d trees (5.9)", Mean(88.98, 0.75), Mean(85.5, 1.0)),
        Large("+ compact support (5.10)", Mean(86.36, 0.18), Mean(81.96, 0.26)),
        # Section 5.2, from Singh-Miller (2010), who chose k by cross-validation.
        Large("classic, k-NN with the best k (5.2)", Mean(90.9), None, Mean(91.1)),
    ],
}

# The project's spec of NCA, table of large sets: its best recipe on each.
LARGE_SPEC = {
    "usps_roweis": Large("500 rows against all", Mean(93.6), Mean(91.9)),
    "magic": Large("50 rows against all", Mean(85.0), Mean(79.7)),
    "mnist": Large("random batches", Mean(91.5, 0.1), None, Mean(91.8, 0.1)),
}
