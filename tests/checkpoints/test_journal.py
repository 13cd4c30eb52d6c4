"""Calls that are numbered, and answered at once by who goes on."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vicinal.files
from vicinal.fitting import lbfgs, run
from vicinal.fitting.checkpoints import journal as journal_module
from vicinal.fitting.checkpoints.identity import Identity
from vicinal.fitting.checkpoints.journal import Journal, a_page, remembered, written_by
from vicinal.fitting.checkpoints.storage import load

WHO = Identity("Nobody.fit", {}, {}, {})


@pytest.fixture(autouse=True)
def at_every_news(monkeypatch):
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(journal_module, "LARGEST_SHARE", np.inf)
    monkeypatch.setattr(vicinal.files, "_sync", lambda file: None)


class KilledError(Exception):
    """Like SIGKILL: nothing more is written."""


def process(path, program, *generators):
    """What a process does that begins, or goes on."""
    content = load(path)
    journal = Journal(path, WHO, {} if content is None else content["entries"])
    for generator in generators:
        journal.watch(generator)
    with written_by(journal):
        return program()


def test_each_call_is_made_once(tmp_path):
    made = []

    def call(name, fails=False):
        if fails:
            raise KilledError
        made.append(name)
        return name, len(made)

    def program(fails):
        return [remembered(partial(call, name, name == fails)) for name in "abc"]

    for fails in ("b", "c"):
        with pytest.raises(KilledError):
            process(tmp_path / "fit", partial(program, fails))
    assert process(tmp_path / "fit", partial(program, None)) == [("a", 1), ("b", 2), ("c", 3)]
    assert process(tmp_path / "fit", partial(program, "a")) == [("a", 1), ("b", 2), ("c", 3)]
    assert made == ["a", "b", "c"]


def test_calls_within_calls_are_kept_until_these_are_done(tmp_path):
    made = []

    def inner(k):
        made.append(k)
        return k

    def outer(fails):
        first = remembered(partial(inner, 1))
        if fails:
            raise KilledError
        return first + remembered(partial(inner, 10))

    def program(fails):
        return remembered(partial(outer, fails)), remembered(partial(inner, 100))

    with pytest.raises(KilledError):
        process(tmp_path / "fit", partial(program, True))
    assert sorted(load(tmp_path / "fit")["entries"]) == ["1.1"]
    assert process(tmp_path / "fit", partial(program, False)) == (11, 100)
    assert made == [1, 10, 100]
    assert sorted(load(tmp_path / "fit")["entries"]) == ["1", "2"]


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_generators_are_taken_along(tmp_path, kind):
    def program(generator, fails):
        first = remembered(lambda: generator.random(3))
        between = generator.random(2)
        if fails:
            raise KilledError
        return np.concatenate([first, between, remembered(lambda: generator.random(1))])

    generator = kind(0)
    with pytest.raises(KilledError):
        process(tmp_path / "fit", lambda: program(generator, True), generator)
    generator = kind(0)
    found = process(tmp_path / "fit", lambda: program(generator, False), generator)
    assert_array_equal(found, kind(0).random(6))


def test_after_an_interrupt_nothing_more_is_kept(tmp_path):
    """What comes then is not what would have come."""

    def interrupted():
        raise KeyboardInterrupt

    def program():
        remembered(lambda: 1)
        try:
            remembered(interrupted)
        except KeyboardInterrupt:
            return remembered(lambda: "the best so far")

    assert process(tmp_path / "fit", program) == "the best so far"
    assert sorted(load(tmp_path / "fit")["entries"]) == ["1"]
    again = process(tmp_path / "fit", lambda: [remembered(partial(str, k)) for k in "xyz"])
    assert again == [1, "y", "z"]


def test_what_a_call_within_a_run_asks_for_is_no_call_of_the_fit(tmp_path):
    """Callbacks may differ from one process to the next, and numbers must not."""

    def parabola(x):
        return -float(x @ x), -2.0 * x

    def program(asks):
        seen = []

        def callback(update):
            if asks:
                seen.append(remembered(lambda: update.iteration))

        outcome = run(
            lbfgs(parabola), np.ones(2), max_iter=5, tol=0.0, scheduled=True, callbacks=[callback]
        )
        return outcome.n_iter, seen, remembered(lambda: "after")

    n_iter, seen, after = process(tmp_path / "fit", partial(program, True))
    assert (seen, after) == ([*range(n_iter + 1)], "after")
    assert process(tmp_path / "fit", partial(program, False)) == (n_iter, [], "after")


def test_without_a_journal_calls_are_made():
    assert remembered(lambda: 3) == 3
    with a_page() as page:
        assert (page.result, page.standing, page.is_kept) == (None, None, False)


def test_a_disk_that_is_full_does_not_end_a_fit(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal_module, "store", full)
    with pytest.warns(
        UserWarning, match=r"no checkpoint .* \(.*No space left.*\): the fit goes on"
    ):
        assert process(tmp_path / "fit", lambda: remembered(lambda: 4)) == 4


def test_a_device_that_is_lost_does_not_end_a_fit(tmp_path):
    def lost():
        raise RuntimeError("the device failed")

    def program():
        with a_page() as page:
            page.note(lost)
        return "the best so far"

    with pytest.warns(
        UserWarning, match=r"no checkpoint .* \(the device failed\): the fit goes on"
    ):
        assert process(tmp_path / "fit", program) == "the best so far"


def test_writing_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    """By a clock of ours: an update takes 1 s, and a writing 3 s."""
    clock = [0.0]
    monkeypatch.setattr(journal_module, "LEAST_SECONDS", 2.0)
    monkeypatch.setattr(journal_module, "LARGEST_SHARE", 0.05)
    monkeypatch.setattr(journal_module.time, "perf_counter", lambda: clock[0])
    written = []

    def slow(path, content):
        clock[0] += 3.0
        written.append(clock[0])

    def call():
        clock[0] += 1.0

    def program():
        for _ in range(1000):
            remembered(call)

    monkeypatch.setattr(journal_module, "store", slow)
    process(tmp_path / "fit", program)
    assert written[0] == 5.0  # after 2 s
    assert 10 < len(written) <= 0.05 * clock[0] / 3.0 + 1
