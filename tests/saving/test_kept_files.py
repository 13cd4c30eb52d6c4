"""Files that earlier versions have written can be read, and their models answer as they did."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from saving.keep import KINDS, numbers_of
from sklearn.exceptions import InconsistentVersionWarning

import vicinal

pytest.importorskip("skops")

KEPT = Path(__file__).parent / "kept"
FILES = sorted(KEPT.glob("*/*.skops"))


def test_every_kind_is_kept():
    assert {path.stem for path in FILES} == set(KINDS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_model_of_an_earlier_version_answers_as_it_did(path):
    with warnings.catch_warnings():  # of another scikit-learn: said, and fine here
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = vicinal.load(path)
    with np.load(path.with_suffix(".npz")) as kept:
        found = numbers_of(model)
        assert found.keys() == set(kept)
        for name, numbers in found.items():
            np.testing.assert_allclose(numbers, kept[name], rtol=1e-6, atol=1e-9, err_msg=name)
