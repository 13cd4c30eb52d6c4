import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.comparing.made import ours, scores

from vicinal.report.comparing.differences import BETTER, UNCLEAR, WORSE, in_accuracy, in_log_loss
from vicinal.report.comparing.intervals import difference_interval

HIGH, MIDDLE, LOW = ([share + d for d in (0, 0.01, -0.01, 0.0, 0.02)] for share in (0.95, 0.8, 0.6))
folds = st.lists(st.integers(0, 100).map(lambda n: n / 100), min_size=2, max_size=8)


@pytest.mark.parametrize(
    ("accuracies", "conclusion"),
    [(HIGH, BETTER), (MIDDLE, UNCLEAR), (LOW, WORSE)],
)
def test_three_conclusions(accuracies, conclusion):
    others = [scores("low", LOW), scores("middle", MIDDLE)]
    found = in_accuracy(ours(accuracies), others)
    assert (found.other.label, found.n_others) == ("middle", 2)
    assert found.gain == pytest.approx(np.mean(accuracies) - np.mean(MIDDLE))
    assert found.conclusion == conclusion


def test_the_interval_is_that_of_paired_gains():
    other = scores("other", MIDDLE)
    found = in_accuracy(ours(HIGH), [other])
    rows = found.ours.row_accuracies - other.row_accuracies
    gains = np.array(HIGH) - MIDDLE
    assert (found.low, found.high) == difference_interval(gains, rows, 0.25, 1)


def test_rows_that_were_never_judged_do_not_count():
    gaps = {"row_accuracies": np.r_[np.ones(400), np.full(100, np.nan)]}
    found = in_accuracy(ours(HIGH, **gaps), [scores("other", MIDDLE, **gaps)])
    assert np.isfinite([found.low, found.high]).all()


def test_lower_log_loss_is_a_gain():
    few = [0.1, 0.12, 0.11, 0.1, 0.13]
    others = [scores("a", MIDDLE, 0.9), scores("b", LOW, [0.5, 0.51, 0.5, 0.52, 0.5])]
    found = in_log_loss(ours(LOW, few), others)
    assert (found.other.label, found.conclusion) == ("b", BETTER)
    assert found.gain == pytest.approx(0.506 - 0.112)
    assert in_log_loss(ours(HIGH, 0.9), others).conclusion == WORSE


@given(folds)
def test_a_method_does_not_differ_from_itself(accuracies):
    found = in_accuracy(ours(accuracies), [scores("itself", accuracies)] * 3)
    assert (found.gain, found.low, found.high, found.conclusion) == (0, 0, 0, UNCLEAR)


@given(folds, st.data())
def test_who_is_better_depends_on_the_side(accuracies, data):
    others = data.draw(
        st.lists(
            st.integers(0, 100).map(lambda n: n / 100),
            min_size=len(accuracies),
            max_size=len(accuracies),
        )
    )
    one = in_accuracy(ours(accuracies), [scores("other", others)])
    two = in_accuracy(ours(others), [scores("other", accuracies)])
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))


@given(folds, st.permutations(range(8)), st.integers(0, 2**32 - 1))
def test_the_order_of_folds_and_rows_does_not_matter(accuracies, order, seed):
    order = [place for place in order if place < len(accuracies)]
    shuffled = np.random.default_rng(seed).permutation(100 * len(accuracies))
    others = [1 - share for share in accuracies]

    def changed(made):
        return {
            "fold_accuracies": made.fold_accuracies[order],
            "row_accuracies": made.row_accuracies[shuffled],
        }

    one, two = ours(accuracies), scores("other", others)
    first = in_accuracy(one, [two])
    again = in_accuracy(ours(accuracies, **changed(one)), [scores("other", others, **changed(two))])
    assert (again.gain, again.low, again.high) == pytest.approx(
        (first.gain, first.low, first.high), abs=1e-12
    )


def test_as_numbers():
    told = in_accuracy(ours(HIGH), [scores("other", LOW)]).as_dict()
    assert told["conclusion"] == "better"
    assert (told["ours"], told["other"], told["n_others"]) == ("NeighborhoodComponents", "other", 1)
