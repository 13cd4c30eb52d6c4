"""Laws of the public functions, of streams, and of pairs, on hostile tables.

A call ends in a clean error that names an argument, or in finite results; no warning but ours, no
input changed, the same bits when asked again.
"""

import copy
import inspect
import re
import warnings

import numpy as np

from tests.hostile.estimators import leaks, same
from tests.hostile.tables import draw_table
from vicinal import LatentCoincidence, LocalComponents, NeighborhoodComponents, sample_pairs
from vicinal.divergence import density_paths, local_gaussians, paired, pairwise
from vicinal.local_components import log_density
from vicinal.nca import objective

__all__ = ["check"]

_SEED = 17
_SUBJECTS = {"X", "y", "Y", "Q", "A", "pairs", "sample_weight", "sample", "rows", "points", "class"}
_DIVERGENCES = ["jeffreys", "bhattacharyya", "hellinger", "riemann", "jeffreys-riemann"]
_COVARIANCES = ["ridge", "trace", "shrunk", "shrunk-diagonal", "ledoit-wolf", "oas"]


def check(case: int) -> list[str]:
    """Violations in the case of that number."""
    rng = np.random.default_rng([_SEED, case])
    table = draw_table(rng)
    call = _CALLS[rng.integers(len(_CALLS))]
    name, arguments, compute = call(rng, table)
    before = copy.deepcopy(arguments)
    found, result = _judged(compute, arguments)
    if not same(before, arguments):
        found.append("an input was changed")
    if not same(_judged(compute, arguments)[1], result):
        found.append("other bits when asked again")
    return [f"case {case}: {name} on {table.words}: {what}" for what in found]


def _judged(compute, arguments):
    """Violations, and the results or the error's words."""
    found, result = [], None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = compute(**arguments)
        except (ValueError, TypeError) as error:
            result = str(error)
            names = set(inspect.signature(compute).parameters) | _SUBJECTS
            if not set(re.findall(r"\w+", result)) & names:
                found.append(f"a message that names nothing: {error}")
        except Exception as error:
            found.append(f"raised {type(error).__name__}: {error}")
        else:
            found += ["not finite"] * (not _is_finite(result))
    return [*found, *leaks(caught)], result


def _is_finite(result) -> bool:
    if isinstance(result, tuple | list):
        return all(map(_is_finite, result))
    values = result.data if hasattr(result, "toarray") else np.asarray(result)
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def _objective(rng, table):
    d = np.asarray(table.X).shape[1]
    scale = float(rng.choice([1e-100, 1e-3, 1.0, 1e3, 1e100]))
    arguments = {
        "A": scale * rng.normal(size=(int(rng.choice([1, 2])), d)),
        "X": table.X,
        "y": table.y,
        "kernel": str(rng.choice(["gaussian", "compact", "student"])),
        "objective": str(rng.choice(["accuracy", "log"])),
        "sample_weight": table.sample_weight,
        "regularization": float(rng.choice([0.0, 1.0, 1e200])),
    }
    return f"objective (A times {scale:g})", arguments, objective


def _log_density(rng, table):
    variance = float(rng.choice([1e-300, 1e-20, 1.0, 1e20, 1e290, 0.0, -1.0]))
    arguments = {
        "Q": table.new,
        "X": table.X,
        "covariance": variance,
        "weights": table.sample_weight,
        "engine": str(rng.choice(["auto", "blocked", "fused", "tree"])),
        "tolerance": float(rng.choice([0.0, 1e-3])),
    }
    return f"log_density (variance {variance:g})", arguments, log_density


def _divergences(rng, table):
    arguments = {
        "X": table.X,
        "n_neighbors": int(rng.choice([1, 3, 10])),
        "gamma": float(rng.choice([1e-8, 1e-4, 1.0])),
        "divergence": str(rng.choice(_DIVERGENCES)),
        "covariance": str(rng.choice(_COVARIANCES)),
    }
    return f"pairwise({arguments['divergence']}, {arguments['covariance']})", arguments, pairwise


def _paired(rng, table):
    n = len(np.asarray(table.X))
    arguments = {
        "X": table.X,
        "pairs": rng.integers(0, n + (rng.random() < 0.1), (4, 2)),
        "n_neighbors": int(rng.choice([1, 3])),
        "divergence": str(rng.choice(_DIVERGENCES)),
    }
    return "paired", arguments, paired


def _gaussians(rng, table):
    covariance = str(rng.choice(_COVARIANCES))
    arguments = {"X": table.X, "n_neighbors": int(rng.choice([1, 5])), "covariance": covariance}
    return f"local_gaussians({covariance})", arguments, local_gaussians


def _paths(rng, table):
    return "density_paths", {"X": table.X}, density_paths


def _nca_stream(rng, table):
    def stream(X, y, sample_weight):
        model = NeighborhoodComponents(random_state=0, batch_size=5)
        half = len(X) // 2
        for part in (slice(0, half or 1), slice(half, None)):
            weights = None if sample_weight is None else sample_weight[part]
            model.partial_fit(X[part], y[part], classes=np.unique(y), sample_weight=weights)
        return model.components_, model.predict_proba(X)

    arguments = {"X": np.asarray(table.X), "y": table.y, "sample_weight": table.sample_weight}
    return "NeighborhoodComponents.partial_fit", arguments, stream


def _density_stream(rng, table):
    regularization = float(rng.choice([0.0, 1e-3]))

    def stream(X, sample_weight):
        model = LocalComponents(random_state=0, batch_size=5, regularization=regularization)
        half = len(X) // 2
        for part in (slice(0, half or 1), slice(half, None)):
            weights = None if sample_weight is None else sample_weight[part]
            model.partial_fit(X[part], sample_weight=weights)
        return model.components_, model.score_samples(X), model.loo_log_likelihood_

    arguments = {"X": np.asarray(table.X), "sample_weight": table.sample_weight}
    return f"LocalComponents({regularization}).partial_fit", arguments, stream


def _modes(rng, table):
    def modes(X):
        model = LocalComponents(regularization="auto", random_state=0, max_iter=20).fit(X)
        return *model.modes(), model.sample(3), model.pair_distance([[0, len(X) - 1]], X)

    return "modes and sample", {"X": np.asarray(table.X)}, modes


def _pairs(rng, table):
    n = len(np.asarray(table.X))
    positions = rng.integers(0, n, (20, 2))
    scale = str(rng.choice(["shared", "local"]))
    strategy = str(rng.choice(["accuracy", "f_beta", "max_tpr", "max_tnr"]))
    given = {"min_rate": 0.9} if strategy.startswith("max") else {}

    def learn(X, pairs, y):
        model = LatentCoincidence(scale=scale, max_iter=20, random_state=0)
        model.fit_pairs(pairs, y, X)
        return (
            model.components_,
            model.pair_probability(pairs, X=X),
            model.pair_probability(pairs, base_rate=0.1, X=X),
            model.pair_distance(pairs, X),
            model.predict_pairs(pairs, X),
            model.calibrate_threshold(pairs, y, X, strategy=strategy, **given).threshold_,
            model.get_metric()(X[0], X[-1]),
        )

    arguments = {"X": np.asarray(table.X), "pairs": positions, "y": rng.integers(0, 2, 20)}
    return f"fit_pairs ({scale}, {strategy})", arguments, learn


def _sampled(rng, table):
    n = len(np.asarray(table.X))
    arguments = {
        "y": table.y,
        "n_pairs": int(rng.choice([1, n, 3 * n, n * n])),
        "X": table.X,
        "kind": str(rng.choice(["random", "near", "hard"])),
        "random_state": 0,
    }
    return f"sample_pairs ({arguments['kind']})", arguments, sample_pairs


_CALLS = (
    _objective,
    _log_density,
    _divergences,
    _paired,
    _gaussians,
    _paths,
    _nca_stream,
    _density_stream,
    _modes,
    _pairs,
    _sampled,
)
