"""Displays of a single point, of extreme numbers, of many lines and of names nobody expects.

Warnings are errors here, so a picture comes without them.
"""

import numpy as np
import pytest
from report.pictures import blobs, new_axes, words

from vicinal import LocalComponents
from vicinal.report import (
    ConvergenceDisplay,
    DensityDisplay,
    FeatureImportanceDisplay,
    LocalEllipsesDisplay,
    MetricDisplay,
    NeighborhoodGraphDisplay,
    NeighborsAccuracyDisplay,
    ProjectionDisplay,
    ReliabilityDisplay,
    SpectrumDisplay,
)

POINTS, LABELS = blobs(3, 60)


def drawn(display):
    display.figure_.draw_without_rendering()
    return display


@pytest.mark.parametrize("power", [-300, -150, -100, 100, 150, 300])
def test_numbers_of_any_size(power):
    size, chain = 10.0**power, np.eye(60, k=1)
    X = POINTS * size
    wide = np.tile(X, 3)
    for display in (
        ProjectionDisplay(X, LABELS, queries=X[:1], query_neighbors=[[1, 2]]),
        ProjectionDisplay(X[:, :1], LABELS),
        ProjectionDisplay(wide, LABELS),
        NeighborhoodGraphDisplay(X, chain, LABELS),
        DensityDisplay(X, -np.abs(X[:, 0]), axis_names=["a", "b"]),
        LocalEllipsesDisplay(X, X[:2], np.zeros((2, 2, 2)), LABELS),
        MetricDisplay(np.eye(3) * size),
        FeatureImportanceDisplay([size, 3 * size]),
        SpectrumDisplay([size, 1.0, 1e-5 * size]),
        ConvergenceDisplay({"a": {"objective": [size, 2 * size]}}, {"a": 1}),
    ):
        drawn(display.plot(ax=new_axes()))


@pytest.mark.parametrize("power", [-150, 150, 300])
def test_neighbors_of_points_of_any_size(power):
    usual = NeighborsAccuracyDisplay.from_predictions({"a": POINTS}, LABELS, ax=new_axes())
    scaled = NeighborsAccuracyDisplay.from_predictions(
        {"a": POINTS * 10.0**power}, LABELS, ax=new_axes()
    )
    np.testing.assert_array_equal(scaled.accuracies["a"], usual.accuracies["a"])


@pytest.mark.parametrize("power", [-300, -150, 150])
def test_the_metric_of_a_map_of_any_size(power):
    model = LocalComponents(regularization=0.1).fit(POINTS)
    usual = MetricDisplay.from_estimator(model, ax=new_axes())
    shares = FeatureImportanceDisplay.from_estimator(model, POINTS, ax=new_axes()).importances
    model.components_ = model.components_ * 10.0**power
    scaled = MetricDisplay.from_estimator(model, ax=new_axes())
    assert f"unit: 1e{2 * power}" in scaled.colorbar_.ax.get_ylabel()
    np.testing.assert_allclose(scaled.matrix, usual.matrix, rtol=1e-8)
    far = FeatureImportanceDisplay.from_estimator(model, POINTS, ax=new_axes()).importances
    np.testing.assert_allclose(far, shares, rtol=1e-8)


def test_a_single_point():
    one = POINTS[:1]
    for display in (
        ProjectionDisplay(one, [0]),
        ProjectionDisplay(one[:, :1], [0]),
        ProjectionDisplay(np.ones((1, 1500)), [0]),
        NeighborhoodGraphDisplay(one, [[0]], [0]),
        DensityDisplay(one, [-1.0]),
        DensityDisplay(one[:, :1], [-1.0]),
        LocalEllipsesDisplay(one, one, [np.eye(2)], [0]),
        SpectrumDisplay([1.0]),
        ReliabilityDisplay([1.0], [0.5], [1]),
        ConvergenceDisplay({"a": {"objective": [1.0]}}, {"a": 0}),
    ):
        drawn(display.plot(ax=new_axes()))


def test_what_a_single_point_cannot_show():
    model = LocalComponents(regularization=0.1).fit(POINTS)
    with pytest.raises(ValueError, match="X has 1 row"):
        NeighborhoodGraphDisplay.from_estimator(model, POINTS[:1], ax=new_axes())
    with pytest.raises(ValueError, match="y has 1 label"):
        NeighborsAccuracyDisplay.from_predictions({"a": POINTS[:1]}, [0], ax=new_axes())


def test_what_is_no_picture_is_refused_by_name():
    with pytest.raises(ValueError, match="histories is empty"):
        ConvergenceDisplay({}).plot(ax=new_axes())
    with pytest.raises(ValueError, match="accuracies of 'a' must be shares"):
        NeighborsAccuracyDisplay({"a": [2.0]}, [1], 10).plot(ax=new_axes())


def test_a_legend_of_many_lines_fits():
    display = NeighborsAccuracyDisplay({f"m{i}": [0.5] for i in range(60)}, [1], 9)
    texts = words(drawn(display.plot(ax=new_axes())).ax_.get_legend().get_texts())
    assert texts[-1] == "and 44 others"
    figure = display.figure_
    assert figure.get_tightbbox().y1 <= figure.bbox_inches.y1


@pytest.mark.parametrize("name", ["\ud800", "\x00\x1b[31m", "\u202eabc", " ", "W" * 500])
def test_names_nobody_expects(name):
    for display in (
        ProjectionDisplay(POINTS, LABELS, [name] * 3, name, queries=POINTS[:1], query_names=[name]),
        MetricDisplay(np.eye(2), [name] * 2, title=name, value_name=name),
        FeatureImportanceDisplay([1.0, 2.0], [name] * 2, title=name, value_name=name),
        SpectrumDisplay([1.0, 2.0], title=name, value_name=name, note=name),
        DensityDisplay(POINTS, POINTS[:, 0], axis_names=[name] * 2, value_name=name, title=name),
        ConvergenceDisplay({name: {"objective": [1.0, 2.0]}, "b": {"objective": [1.0]}}),
    ):
        drawn(display.plot(ax=new_axes()))


def test_a_long_title_stays_inside():
    display = drawn(SpectrumDisplay([1.0, 2.0], title="W" * 200, note="M" * 200).plot(new_axes()))
    box, room = display.figure_.get_tightbbox(), display.figure_.bbox_inches
    assert box.x0 >= room.x0
    assert box.x1 <= room.x1


def test_rows_of_a_density_are_called_as_the_caller_does():
    model = LocalComponents(regularization=0.1).fit(POINTS)
    called = np.arange(60) + 1000
    display = DensityDisplay.from_estimator(model, POINTS, rows=called, ax=new_axes())
    lowest = called[model.score_samples(POINTS).argmin()]
    assert words(display.names_)[0] == str(lowest)
