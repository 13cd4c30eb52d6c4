"""The reference tells the range of every number that an estimator takes, and it is the true one."""

import inspect
import re

import numpy as np
import pytest

import vicinal

ESTIMATORS = ("NeighborhoodComponents", "LocalComponents", "ModeClustering", "LatentCoincidence")
ESTIMATORS += ("CoincidenceClassifier", "DivergenceNeighbors", "DivergenceEmbedding")

# What they mean is scikit-learn's, or told in words.
WITHOUT_RANGE = {"covariance", "memory_limit", "n_jobs", "random_state", "verbose"}

# What has to be set so that a parameter matters.
BESIDE = {
    "background": {"kernel": "compact"},
    "degrees_of_freedom": {"kernel": "student"},
    "n_candidates": {"n_graph_neighbors": 1},
    "rank": {"covariance": "low_rank"},
}

TYPE = re.compile(r"^(?P<name>\w+) : (?P<type>.*\b(?:int|float)\b.*)$", re.MULTILINE)
RANGE = re.compile(r"\b(int|float) in ([\[(])([\w.]+), ([\w.]+)([\])])")
N_SAMPLES, N_FEATURES = 30, 4


def numbers(name):
    """Parameters of an estimator that may be numbers, as its docstring has them."""
    doc = inspect.getdoc(getattr(vicinal, name))
    parameters = doc[doc.index("Parameters\n---") : doc.index("Attributes\n---")]
    return {match["name"]: match["type"] for match in TYPE.finditer(parameters)}


def outside(told):
    """Values just beyond the ends of a range."""
    kind, left, low, high, right = RANGE.search(told).groups()
    sizes = {"n_samples": N_SAMPLES, "n_features": N_FEATURES}
    low, high = (float(sizes.get(end, end)) for end in (low, high))
    step = 1 if kind == "int" else 0.01
    values = [low if left == "(" else low - step, high if right == ")" else high + step]
    return [int(value) if kind == "int" else value for value in values if np.isfinite(value)]


CASES = [
    (name, parameter, told)
    for name in ESTIMATORS
    for parameter, told in numbers(name).items()
    if parameter not in WITHOUT_RANGE
]


@pytest.mark.parametrize(("name", "parameter", "told"), CASES)
def test_a_number_beyond_its_range_is_refused_by_name(name, parameter, told):
    assert RANGE.search(told), f"{name}: {parameter} : {told}"
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_SAMPLES, N_FEATURES)), np.arange(N_SAMPLES) % 3
    for value in outside(told):
        beside = BESIDE.get(parameter, {})
        model = getattr(vicinal, name)(**{**beside, parameter: value})
        with pytest.raises(ValueError, match=parameter):
            model.fit(X, y)


def test_defaults_in_the_reference_are_those_of_signatures():
    for name in ESTIMATORS:
        signature = inspect.signature(getattr(vicinal, name))
        for parameter, told in numbers(name).items():
            default = signature.parameters[parameter].default
            if match := re.search(r"default=(.+)$", told):
                assert str(default) == match[1].strip('"') or float(default) == float(match[1])
            else:
                assert told.endswith("optional"), (name, parameter)
                assert default is None
