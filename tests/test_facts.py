import json
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)
from vicinal.facts import FACTS, duration, fact_values, facts_in_words, number

X, Y = load_iris(return_X_y=True)


def test_facts_of_the_fit():
    model = NeighborhoodComponents(2).fit(X, Y)
    facts = facts_in_words(model)
    assert facts["Map"] == "from 4 features to 2"
    assert facts["Classes"] == "3: 0, 1, 2"
    assert facts["Updates"] == str(model.n_iter_)
    assert facts["Converged"] == "yes"
    assert facts["Engine"] == f"{model.engine_} ({model.engine_reason_})"
    assert facts["Objective"].startswith(f"{model.objective_:.6g} (mean p")
    assert facts["Solver"].startswith("lbfgs, full batches (150 points")
    assert re.fullmatch(r"(< )?[\d.e-]+ s", facts["Time of the updates"])


def test_facts_of_a_stream():
    facts = facts_in_words(NeighborhoodComponents(2, objective="log").partial_fit(X, Y))
    assert "mean log p" in facts["Objective"]
    assert not {"Converged", "Solver", "Time of the updates"} & set(facts)


def test_facts_of_densities():
    model = LocalComponents(gaussian="search", regularization=0.0).fit(X)
    facts = facts_in_words(model)
    assert facts["Gaussian part"] == "1 of 4 directions"
    assert facts["Leave-one-out log-likelihood"] == f"{model.loo_log_likelihood_:.6g}"
    assert facts["Leave-one-out log-likelihood"].startswith("-1.545")
    assert "Gaussian part" not in facts_in_words(LocalComponents().fit(X))


def test_facts_of_many_classes():
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.array([f"class number {i} of a long list" for i in range(20)] * 3)
    facts = facts_in_words(CoincidenceClassifier().fit(X, labels))
    assert facts["Classes"].startswith("20: class number 0 of a…, class number 1 of a…")
    assert facts["Classes"].endswith("…, …")
    assert facts["Classes"].count("class number") == 6
    assert int(facts["Updates"]) > 1


def test_facts_of_other_models():
    facts = facts_in_words(DivergenceEmbedding(gamma=0.1, method="mds").fit(X))
    assert facts == {"Points": "150 in 2 dimensions", "Neighborhood size": "10"}
    facts = facts_in_words(LatentCoincidence(random_state=0).fit(X, Y))
    assert facts["Global optimum"] in ("yes", "no")
    assert int(facts["Pairs"]) > 0
    assert float(facts["Threshold of distances"]) > 0
    assert facts_in_words(ModeClustering(random_state=0).fit(X)) == {"Clusters": "2"}


MODELS = [
    NeighborhoodComponents(2, max_iter=3),
    LocalComponents(gaussian="search"),
    ModeClustering(random_state=0),
    LatentCoincidence(random_state=0),
    CoincidenceClassifier(max_iter=3),
    DivergenceEmbedding(gamma=0.1, method="mds"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_programs_are_told_attributes(model):
    fitted = clone(model).fit(X, Y)
    values = fact_values(fitted)
    n_components = values.pop("n_components", None)
    if n_components is not None:
        assert n_components == fitted.components_.shape[-2]
    assert values
    for name, value in values.items():
        np.testing.assert_equal(value, np.asarray(getattr(fitted, f"{name}_")).tolist())
    assert json.loads(json.dumps(values)) == values
    assert fact_values(clone(model)) == {}


def test_facts_may_be_left_out():
    model = NeighborhoodComponents(2).fit(X, Y)
    every = facts_in_words(model)
    assert [*every] == [fact.label for fact in FACTS if fact.label in every]
    few = facts_in_words(model, leave_out=("Classes", "Engine"))
    assert few == {
        label: words for label, words in every.items() if label not in ("Classes", "Engine")
    }


def test_numbers_have_six_digits_unless_they_are_whole():
    assert [number(value) for value in (1234567, np.int64(3), 0.123456789, 1e-9)] == [
        "1234567",
        "3",
        "0.123457",
        "1e-09",
    ]


def test_times_are_as_long_as_people_count():
    assert [duration(seconds) for seconds in (0.001, 0.25, 12.34, 125.0)] == [
        "< 0.01 s",
        "0.2 s",
        "12.3 s",
        "2 min 5 s",
    ]
