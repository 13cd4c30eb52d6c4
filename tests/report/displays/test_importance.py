import numpy as np
import pytest
from report.pictures import new_axes, note, words
from sklearn.datasets import load_wine

from vicinal import NeighborhoodComponents
from vicinal.report import FeatureImportanceDisplay

X, y = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def model():
    return NeighborhoodComponents(n_components=2).fit(X, y)


def importance(model, *args, **options):
    return FeatureImportanceDisplay.from_estimator(model, *args, ax=new_axes(), **options)


def widths(display):
    return np.array([bar.get_width() for bar in display.bars_])


def test_shares_of_the_spread(model):
    spread = np.diag(model.get_mahalanobis_matrix()) * X.var(axis=0)
    display = importance(model, X)
    np.testing.assert_allclose(widths(display), np.sort(spread / spread.sum())[::-1])
    order = np.argsort(-spread)
    assert words(display.ax_.get_yticklabels()) == [f"x{j}" for j in order]
    assert "variance" in display.ax_.get_xlabel()
    assert display.note_ is None


def test_without_data_shares_of_the_trace(model):
    diagonal = np.diag(model.get_mahalanobis_matrix())
    display = importance(model)
    np.testing.assert_allclose(widths(display), np.sort(diagonal / diagonal.sum())[::-1])
    assert "scales of features not counted" in display.ax_.get_xlabel()


def test_scaling_a_feature_changes_nothing_where_scales_count(model):
    units = np.arange(1.0, 14.0)
    scaled = NeighborhoodComponents(n_components=2).fit(X, y)
    scaled.components_ = model.components_ / units
    np.testing.assert_allclose(
        widths(importance(scaled, X * units)), widths(importance(model, X)), rtol=1e-10
    )


def test_the_rest_is_said(model):
    spread = np.diag(model.get_mahalanobis_matrix()) * X.var(axis=0)
    left = np.sort(spread)[:10].sum() / spread.sum()
    display = importance(model, X, max_features=3)
    assert len(display.bars_) == 3
    assert note(display) in {
        f"10 others: {left:.0%}".replace("%", " % together"),
        "10 others: <1 % together",
    }


def test_the_largest_bar_is_above(model):
    display = importance(model, X)
    bottom, top = display.ax_.get_ylim()
    assert bottom > top


def test_a_constant_feature_has_no_share():
    flat = np.column_stack([X[:, 0], np.ones(len(X)), X[:, 6]])
    model = NeighborhoodComponents(2).fit(flat, y)
    display = importance(model, flat)
    assert words(display.ax_.get_yticklabels())[-1] == "x1"
    assert widths(display)[-1] == 0


def test_nothing_counts():
    display = FeatureImportanceDisplay([0.0, 0.0]).plot(ax=new_axes())
    assert words(display.text_) == ["0 %", "0 %"]


def test_one_feature():
    display = FeatureImportanceDisplay([0.2], ["only"]).plot(ax=new_axes())
    assert words(display.text_) == ["100 %"]


@pytest.mark.parametrize("values", [[1.0, -1.0], [np.nan, 1.0]])
def test_bad_input(values):
    with pytest.raises(ValueError, match="importances must be finite and not negative"):
        FeatureImportanceDisplay(values).plot(ax=new_axes())
