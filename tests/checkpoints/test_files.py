"""A file that is damaged anywhere is noticed, and the one before it is used."""

import warnings

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from vicinal.files import next_generation
from vicinal.fitting.checkpoints import storage
from vicinal.fitting.checkpoints.storage import NotACheckpointError, load, store

FIRST, SECOND = {"n": 1, "x": np.arange(5.0)}, {"n": 2, "x": np.arange(7.0)}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "fit"
    store(path, FIRST)
    store(path, SECOND)
    return path.read_bytes(), path.with_name("fit.before").read_bytes()


def put(folder, present, before):
    path = folder / "fit"
    for name, content in (("fit", present), ("fit.before", before)):
        (folder / name).unlink(missing_ok=True)
        if content is not None:
            (folder / name).write_bytes(content)
    return path


def test_the_latest_one_is_used(tmp_path, written):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(tmp_path / "fit") is None
        assert load(put(tmp_path, *written))["n"] == 2
        assert load(put(tmp_path, written[0], None))["n"] == 2


@examples(150)
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_any_byte_that_changes_is_noticed(tmp_path_factory, written, place, flip):
    present, folder = bytearray(written[0]), tmp_path_factory.mktemp("flipped")
    present[int(place * len(present))] ^= flip
    path = put(folder, bytes(present), written[1])
    with pytest.warns(UserWarning, match="damaged: .*fit.*goes on from the one before"):
        assert load(path)["n"] == 1


def test_every_byte_of_the_first_lines_counts(tmp_path, written):
    for place in range(100):
        present = bytearray(written[0])
        present[place] ^= 1
        with pytest.warns(UserWarning, match="goes on from the one before"):
            assert load(put(tmp_path, bytes(present), written[1]))["n"] == 1


def test_every_truncation_is_noticed(tmp_path, written):
    for length in range(len(written[0])):
        with pytest.warns(UserWarning, match="goes on from the one before"):
            assert load(put(tmp_path, written[0][:length], written[1]))["n"] == 1


def test_what_is_added_is_noticed(tmp_path, written):
    with pytest.warns(UserWarning, match="goes on from the one before"):
        assert load(put(tmp_path, written[0] + b"x", written[1]))["n"] == 1


def test_the_one_before_outlives_the_next_writing(tmp_path, written):
    path = put(tmp_path, written[0][:-1], written[1])
    with pytest.warns(UserWarning, match="goes on"):
        load(path)
    store(path, SECOND)
    path.write_bytes(b"")
    with pytest.warns(UserWarning, match="goes on"):
        assert load(path)["n"] == 1


def test_where_both_are_damaged_it_begins_anew(tmp_path, written):
    path = put(tmp_path, written[0][:-1], written[1][:40])
    with pytest.warns(UserWarning, match=r"fit'.*fit\.before'.*begins anew"):
        assert load(path) is None


def test_what_is_no_checkpoint_is_never_lost(tmp_path):
    path = put(tmp_path, b"a table, with much work in it", None)
    with pytest.raises(NotACheckpointError, match="no checkpoint: name another one"):
        load(path)


def test_a_moment_without_a_present_one(tmp_path, written):
    path = put(tmp_path, None, written[1])
    path.with_name("fit.part").write_bytes(written[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(path)["n"] == 2


def test_who_deletes_the_file_begins_anew(tmp_path, written):
    assert load(put(tmp_path, None, written[1])) is None


def test_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "FORMAT", 2)
    store(tmp_path / "fit", FIRST)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="has format 2, and this version of vicinal reads 1"):
        load(tmp_path / "fit")


def test_a_link_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere" / "file")
    for text in (b"1", b"2"):
        next_generation(link, [text])
    assert link.is_symlink()
    found = {file.name: file.read_bytes() for file in (tmp_path / "elsewhere").iterdir()}
    assert found == {"file": b"2", "file.before": b"1"}


def test_a_draft_that_is_a_link_is_not_written_through(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "file.part").symlink_to(victim)
    with pytest.raises(OSError, match=r"file\.part"):
        next_generation(tmp_path / "file", [b"1"])
    assert victim.read_bytes() == b"precious"


def test_the_mode_of_a_file_stays(tmp_path):
    path = tmp_path / "file"
    next_generation(path, [b"1"])
    path.chmod(0o600)
    next_generation(path, [b"2"])
    assert path.stat().st_mode & 0o777 == 0o600
