"""Scores that are made up, for the tests of what is said about them."""

import numpy as np

from vicinal.report.comparing.comparison import Comparison
from vicinal.report.comparing.scores import MethodScores


def scores(label, accuracies, losses=0.5, *, name="", role="baseline", n_components=9, **more):
    """What was measured of a method, each fold being 100 rows."""
    accuracies = np.asarray(accuracies, dtype=float)
    losses = np.broadcast_to(np.asarray(losses, dtype=float), accuracies.shape)
    n_right = np.rint(100 * accuracies).astype(int)
    rows = np.concatenate([np.arange(100) < n for n in n_right]).astype(float)
    usual = {
        "is_small": False,
        "fold_accuracies": accuracies,
        "fold_log_losses": losses,
        "fold_seconds": np.full(len(accuracies), 0.25),
        "row_accuracies": rows,
        "row_log_losses": np.repeat(losses, 100),
        "test_ratio": 0.25,
    }
    return MethodScores(
        label=label, name=name, role=role, n_components=n_components, **(usual | more)
    )


def ours(accuracies, losses=0.5, **more):
    named = {"name": "nca", "role": "vicinal"}
    return scores("NeighborhoodComponents", accuracies, losses, **(named | more))


def comparison(*methods, **more):
    usual = {
        "n_rows": 500,
        "n_features": 9,
        "n_classes": 3,
        "n_components": 2,
        "folds": "5 folds",
    }
    return Comparison(methods, **(usual | more))
