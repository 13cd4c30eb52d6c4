import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents
from vicinal.pipelines import last_step, steps_before, steps_of

X = load_iris().data
SCALER, REDUCTION, MODEL = StandardScaler(), PCA(3), LocalComponents()


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        (MODEL, [MODEL]),
        (make_pipeline(MODEL), [MODEL]),
        (make_pipeline(SCALER, REDUCTION, MODEL), [SCALER, REDUCTION, MODEL]),
        (make_pipeline("passthrough", SCALER, None, MODEL, "passthrough"), [SCALER, MODEL]),
    ],
)
def test_steps_are_those_that_do_something(model, steps):
    assert steps_of(model) == steps
    assert last_step(model) is steps[-1]
    before = steps_before(model)
    assert ([] if before is None else steps_of(before)) == steps[:-1]
    assert (before is None) == (len(steps) == 1)


def test_a_pipeline_of_nothing_is_a_model_itself():
    model = Pipeline([("nothing", "passthrough")])
    assert steps_of(model) == [model]
    assert steps_before(model) is None


@pytest.mark.parametrize("end", [(), ("passthrough",)])
def test_what_comes_before_the_model_is_fitted_with_it(end):
    model = make_pipeline(StandardScaler(), "passthrough", PCA(3), LocalComponents(), *end).fit(X)
    before = steps_before(model)
    expected = model[2].transform(model[0].transform(X))
    np.testing.assert_array_equal(before.transform(X), expected)
