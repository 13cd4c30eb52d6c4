import copy

import numpy as np
import pytest
from saving.cases import CASES, FRAME, embedding, fitted

from vicinal import DivergenceNeighbors
from vicinal.saving.contracts import CONTRACTS, _parts, check_contracts
from vicinal.saving.trusted import TRUSTED


def test_every_class_in_a_file_has_a_contract():
    assert set(CONTRACTS) == set(TRUSTED)


def test_every_attribute_is_there_in_some_model():
    """A name that nothing has would never be checked."""
    left = {(kind, name) for kind, names in CONTRACTS.items() for name in names}
    named = [DivergenceNeighbors().fit(FRAME), embedding("mds").fit(FRAME)]
    for model in [*map(fitted, CASES), *named]:
        for part in _parts(model):
            kind = f"{type(part).__module__}.{type(part).__qualname__}"
            for name in CONTRACTS.get(kind, ()):
                value = part
                for step in name.split("."):
                    value = getattr(value, step, None)
                if value is not None:
                    left.discard((kind, name))
    assert not left


@pytest.mark.parametrize("case", CASES)
def test_models_keep_them(case):
    check_contracts(fitted(case))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features_in_", 5),
        ("n_features_in_", 4.0),
        ("n_features_in_", True),
        ("components_", [[1.0]]),
        ("components_", np.eye(2, 4, dtype=np.float16)),
        ("components_", np.eye(2, 4, dtype=int)),
        ("components_", np.eye(2, 5)),
        ("components_", np.ones(4)),
        ("components_", np.full((2, 4), np.inf)),
        ("_classifier", fitted("local full")._density),
        ("feature_names_in_", np.array(["a"], dtype=object)),
        ("classes_", np.arange(4)),
    ],
    ids=str,
)
def test_breaches(name, value):
    model = copy.copy(fitted("nca"))
    setattr(model, name, value)
    with pytest.raises(ValueError, match="is not what it must be"):
        check_contracts(model)


@pytest.mark.parametrize("value", [np.float32(0.5), 1, 0.25, np.float64(2.0)])
def test_numbers_of_any_type(value):
    model = copy.copy(fitted("coincidence"))
    model.sigma2_ = value
    check_contracts(model)
    for bad in (-value, np.nan, "x", np.ones(1)):
        model.sigma2_ = bad
        with pytest.raises(ValueError, match=r"sigma2_ .* \(nonnegative"):
            check_contracts(model)


def test_parts_of_parts_are_found():
    model = copy.copy(fitted("nca"))
    model.extra = [{"a": (np.array([copy.copy(model)], dtype=object),)}]
    model.extra[0]["a"][0][0].components_ = np.ones(3)
    with pytest.raises(ValueError, match="components_"):
        check_contracts(model)
