import numpy as np
import pytest
from report.comparing.made import comparison, ours, scores
from report.pictures import new_axes, note, words

from vicinal.report import ComparisonDisplay

FOLDS = {"raw": [0.7, 0.8, 0.9], "learned": [0.95, 0.9, 1.0]}
INTERVALS = {"raw": (0.6, 0.95), "learned": (0.85, 1.0)}


def shown(**options):
    return ComparisonDisplay(FOLDS, INTERVALS, **options).plot(ax=new_axes())


def test_means_intervals_and_folds():
    display = shown()
    for place, name in enumerate(FOLDS):
        assert display.points_[name].get_xdata().tolist() == [pytest.approx(np.mean(FOLDS[name]))]
        assert tuple(display.intervals_[name].get_xdata()) == INTERVALS[name]
        assert set(display.intervals_[name].get_ydata()) == {place}
        np.testing.assert_allclose(display.folds_[name].get_offsets()[:, 0], FOLDS[name])
    assert words(display.text_) == ["80.0 %", "95.0 %"]
    assert words(display.ax_.get_yticklabels()) == ["raw", "learned"]
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the first one above
    assert display.reference_ is None


def test_a_line_to_compare_with():
    display = shown(reference="raw", highlighted=["learned"])
    assert display.reference_.get_xdata() == pytest.approx([0.8, 0.8])
    assert "dashed: raw" in note(display)
    assert display.points_["raw"].get_color() != display.points_["learned"].get_color()


def test_one_fold():
    display = ComparisonDisplay({"raw": [0.5]}, {"raw": (0.2, 0.8)}).plot(ax=new_axes())
    assert words(display.text_) == ["50.0 %"]


def test_from_a_comparison():
    found = comparison(scores("LDA", [0.8, 0.81, 0.8]), ours([0.95, 0.96, 0.95]))
    display = ComparisonDisplay.from_comparison(found, ax=new_axes())
    assert display.ax_.get_title() == "Learning a metric helps on this table"
    assert display.highlighted == ["NeighborhoodComponents"]
    assert display.reference == "LDA"
    assert note(display).startswith("500 rows, 9 features, 3 classes; 5 folds")
    named = ComparisonDisplay.from_comparison(found, title="Mine", ax=new_axes())
    assert named.ax_.get_title() == "Mine"


@pytest.mark.parametrize("values", [[], [0.5, 1.2], [np.nan], [[0.5]]])
def test_what_are_no_shares(values):
    with pytest.raises(ValueError, match="fold_accuracies of 'raw' must be shares"):
        ComparisonDisplay({"raw": values}, {"raw": (0, 1)}).plot(ax=new_axes())


def test_nothing_to_show():
    with pytest.raises(ValueError, match="there is no method to show"):
        ComparisonDisplay({}, {}).plot(ax=new_axes())
