import json
import sys

import numpy as np
import pytest
from report.comparing.made import comparison, ours, scores
from report.pictures import new_axes

HIGH, MIDDLE, LOW = ([share + d for d in (0, 0.01, -0.01, 0.0, 0.02)] for share in (0.95, 0.8, 0.6))


def test_it_helps():
    found = comparison(scores("k-NN raw", LOW), scores("LDA", MIDDLE), ours(HIGH))
    gain = found.difference
    assert found.verdict == (
        "Learning a metric helps on this table: 95.4% (± 0.8) with NeighborhoodComponents against "
        "80.4% (± 0.8) with LDA, the best of 2 baselines; difference +15.0 points (95% interval "
        f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f})."
    )
    assert gain.low > 0


def test_it_does_not_help():
    found = comparison(scores("k-NN raw", HIGH), ours(MIDDLE))
    assert found.verdict.startswith("Learning a metric does not help on this table: 80.4%")
    assert "with k-NN raw; difference -15.0 points" in found.verdict  # the only baseline


def test_there_is_no_clear_difference():
    found = comparison(scores("k-NN raw", MIDDLE), ours(MIDDLE))
    assert found.verdict.startswith("There is no clear difference on this table: 80.4%")
    assert "difference +0.0 points (95% interval +0.0 to +0.0)" in found.verdict


def test_no_other_learned_metric_takes_the_place_of_the_default():
    """Chosen after the fact, the best of several would have been lucky."""
    others = [
        scores("k-NN after LatentCoincidence", HIGH, name="coincidence", role="vicinal"),
        scores("NeighborhoodComponents (2-d)", HIGH, name="nca", role="vicinal", is_small=True),
        scores("k-NN after scikit-learn's NCA", HIGH, name="sklearn-nca", role="peer"),
    ]
    found = comparison(scores("LDA", MIDDLE), *others, ours(LOW))
    assert found.difference.ours.label == "NeighborhoodComponents"
    assert found.difference.other.label == "LDA"  # a learned metric is no baseline
    assert "does not help" in found.verdict


def small(accuracies):
    more = {"name": "nca", "role": "vicinal", "is_small": True, "n_components": 2}
    return scores("NeighborhoodComponents (2-d)", accuracies, **more)


def test_few_dimensions_are_compared_with_as_few():
    wide, flat = scores("k-NN raw", HIGH), scores("k-NN after PCA (2-d)", LOW, n_components=2)
    found = comparison(wide, flat, ours(MIDDLE), small(MIDDLE))
    assert found.difference_small.other is flat
    assert found.findings[1].startswith(
        "In 2 dimensions it helps: 80.4% (± 0.8) with NeighborhoodComponents (2-d) against 60.4% "
        "(± 0.8) with k-NN after PCA (2-d); difference +20.0 points"
    )
    equal = comparison(flat, small(LOW))
    assert equal.findings[1].startswith("In 2 dimensions there is no clear difference: ")
    worse = comparison(scores("PCA", HIGH, n_components=1), small(LOW), n_components=1)
    assert worse.findings[1].startswith("In 1 dimension it does not help: ")


@pytest.mark.parametrize(
    ("loss", "said"),
    [(0.1, "better"), (0.5, "not clearly better or worse"), (0.9, "worse")],
)
def test_probabilities(loss, said):
    spread = np.array([0.0, 0.01, -0.01, 0.02, -0.02])
    baseline = scores("LDA", MIDDLE, 0.5 + spread[::-1])
    sentence = comparison(baseline, ours(HIGH, loss + spread)).findings[-1]
    start = f"The probabilities of NeighborhoodComponents are {said}: log-loss {loss:.3f} (± 0.011)"
    assert sentence.startswith(f"{start} against 0.500 (± 0.011) with LDA; difference ")
    assert f"difference {loss - 0.5:+.3f}" in sentence


@pytest.mark.parametrize(
    "methods",
    [(), (ours(HIGH),), (scores("LDA", HIGH),), (scores("LDA", [0.9]), ours([0.9]))],
    ids=["nothing", "no baseline", "none of ours", "one fold"],
)
def test_no_verdict(methods):
    found = comparison(*methods)
    assert found.verdict.startswith("There is no verdict: it takes two folds")
    assert found.findings == (found.verdict,)
    assert found.differences() == dict.fromkeys(("accuracy", "accuracy_small", "log_loss"))


def test_text():
    warned = ours(HIGH, warnings=("not converged (ConvergenceWarning, in 2 of 5 folds)",))
    found = comparison(
        scores("k-NN raw", MIDDLE),
        warned,
        notes=("a sample of 500 of 900 rows",),
        skipped={"LDA": "too few rows.", "k-NN after LDA": "too few rows."},
    )
    head, table, findings, remarks = str(found).split("\n\n")
    assert head == "500 rows, 9 features, 3 classes; 5 folds"
    assert table.splitlines() == [
        "Method                    Dim.  Accuracy   Interval  Log-loss    Fit",
        "k-NN raw                     9     80.4%  76.7-83.6     0.500  0.2 s",
        "NeighborhoodComponents *     9     95.4%  93.2-97.5     0.500  0.2 s",
    ]
    assert findings.splitlines() == list(found.findings)
    assert remarks.splitlines()[:3] == [
        "- A sample of 500 of 900 rows.",
        "- Left out: LDA, k-NN after LDA: too few rows.",
        "- NeighborhoodComponents warned: not converged (ConvergenceWarning, in 2 of 5 folds).",
    ]
    assert "counts a probability of 0" in remarks
    assert repr(found) == str(found)


def test_numbers():
    found = comparison(scores("k-NN raw", MIDDLE), ours(HIGH))
    frame = found.to_frame()
    assert frame.index.tolist() == ["k-NN raw", "NeighborhoodComponents"]
    assert frame.loc["k-NN raw", "accuracy"] == pytest.approx(0.804)
    assert frame.loc["k-NN raw", "role"] == "baseline"
    low, high = found.methods[0].accuracy_interval
    assert tuple(frame.loc["k-NN raw", ["accuracy_low", "accuracy_high"]]) == (low, high)
    json.dumps([found.records(), found.differences()])  # all numbers are Python's


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame needs pandas: .*records\(\)"):
        comparison(ours(HIGH)).to_frame()
    assert len(comparison(ours(HIGH)).records()) == 1


def test_picture():
    found = comparison(scores("k-NN raw", MIDDLE), ours(HIGH))
    display = found.plot(ax=new_axes())
    assert list(display.points_) == ["k-NN raw", "NeighborhoodComponents"]
