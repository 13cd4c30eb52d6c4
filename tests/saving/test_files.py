import io
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from saving.cases import X, assert_same, fitted
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vicinal
from vicinal.saving import ModelFileError, ModelHeader, describe
from vicinal.saving.archive import sealed

skops = pytest.importorskip("skops.io")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.skops"
    vicinal.save(fitted("pipeline"), path, metadata={"columns": ["a", "ç"], "target": None})
    return path


def members(path):
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts, packed=False):
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED if packed else ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def edited_header(path, **changes):
    """The file with other entries in its header."""
    parts = members(path)
    header = json.loads(parts["vicinal.json"])
    return archive_of({**parts, "vicinal.json": json.dumps({**header, **changes})})


# -------------------------------------------------------------------------------------- the header


def test_the_header_tells_what_was_saved(saved):
    header = describe(saved)
    assert header.format == 1
    assert header.vicinal == vicinal.__version__
    assert header.versions["numpy"] == np.__version__
    assert {"python", "scikit-learn", "scipy", "skops"} < set(header.versions)
    assert header.model == "NeighborhoodComponents"
    assert header.steps == ["StandardScaler", "NeighborhoodComponents"]
    assert header.metadata == {"columns": ["a", "ç"], "target": None}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", header.created)
    assert re.fullmatch("[0-9a-f]{64}", header.checksum)


def test_describe_builds_nothing(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    assert describe(saved).model == "NeighborhoodComponents"


def test_a_model_alone_is_its_only_step(tmp_path):
    vicinal.save(fitted("local full"), tmp_path / "model")
    header = describe(tmp_path / "model")
    assert (header.model, header.steps, header.metadata) == (
        "LocalComponents",
        ["LocalComponents"],
        {},
    )


def test_skops_can_read_the_file_too(saved):
    again = skops.load(saved, trusted=skops.get_untrusted_types(file=saved))
    assert_same(again, fitted("pipeline"))


@dataclass(frozen=True)
class LaterHeader(ModelHeader):
    """Of a later version with the same format."""

    mood: str = "good"


def test_more_may_stand_in_a_header(tmp_path):
    model = fitted("nca")
    header = LaterHeader.of(model, {})
    (tmp_path / "model").write_bytes(sealed(skops.dumps(model), header))
    assert b'"mood": "good"' in members(tmp_path / "model")["vicinal.json"]
    assert_same(vicinal.load(tmp_path / "model"), model)


def test_steps_that_do_nothing_are_not_named(tmp_path):
    model = make_pipeline(StandardScaler(), fitted("nca"), "passthrough", None)
    vicinal.save(model, tmp_path / "model")
    header = describe(tmp_path / "model")
    assert (header.model, len(header.steps)) == ("NeighborhoodComponents", 2)


@pytest.mark.parametrize("metadata", [{"a": np.ones(2)}, {"a": float("nan")}, {(1, 2): 3}])
def test_metadata_must_fit_into_json(metadata, tmp_path):
    with pytest.raises(TypeError, match="metadata must be what JSON can hold"):
        vicinal.save(fitted("nca"), tmp_path / "model", metadata=metadata)
    assert not list(tmp_path.iterdir())


def test_metadata_must_be_a_dict(tmp_path):
    with pytest.raises(TypeError, match=r"metadata must be a dict, got list: \['a'\]"):
        vicinal.save(fitted("nca"), tmp_path / "model", metadata=["a"])


# ------------------------------------------------------------------------------ what cannot be read


def refused(path, message):
    for read in (vicinal.load, describe):
        with pytest.raises(ModelFileError, match=message):
            read(path)


def test_a_missing_file(tmp_path):
    path = tmp_path / "none.skops"
    for read in (vicinal.load, describe):
        with pytest.raises(FileNotFoundError, match=f"there is no model file '{path}'"):
            read(path)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive" * 100])
def test_no_archive(content, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    refused(path, "text.txt' is not a vicinal model file, or it is damaged")


def test_a_file_of_skops_alone(tmp_path):
    skops.dump(fitted("nca"), tmp_path / "model.skops")
    refused(
        tmp_path / "model.skops", "not a vicinal model file: it is an archive without vicinal.json"
    )


@pytest.mark.parametrize("text", [b"{", b"[1]", b"{}", b'{"format": "1"}', b"\xff"])
def test_a_header_that_is_none(text, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(archive_of({"vicinal.json": text}))
    refused(path, "model' is damaged: its header is unreadable")


def test_a_newer_format(saved, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(edited_header(saved, format=2, vicinal="9.0"))
    mine = re.escape(vicinal.__version__)
    refused(
        path, rf"written by vicinal 9\.0 \(format 2\); this is vicinal {mine}, which reads format 1"
    )
    path.write_bytes(archive_of({"vicinal.json": b'{"format": 7, "anything": "else"}'}))
    refused(path, r"written by vicinal \? \(format 7\).* upgrade vicinal\.$")


def test_every_member_is_under_the_checksum(saved, tmp_path):
    parts, path = members(saved), tmp_path / "model"
    assert len(parts) > 5
    for name in set(parts) - {"vicinal.json"}:
        changed = bytearray(parts[name])
        changed[-1] ^= 1
        path.write_bytes(archive_of({**parts, name: bytes(changed)}))
        with pytest.raises(ModelFileError, match="is damaged, or was edited"):
            vicinal.load(path)


@pytest.mark.parametrize(
    "changes", [{"metadata": {"columns": []}}, {"model": "X"}, {"checksum": ""}]
)
def test_so_is_the_header(changes, saved, tmp_path):
    (tmp_path / "model").write_bytes(edited_header(saved, **changes))
    with pytest.raises(ModelFileError, match="is damaged, or was edited"):
        vicinal.load(tmp_path / "model")


def test_members_added_or_gone(saved, tmp_path):
    parts, path = members(saved), tmp_path / "model"
    array = next(name for name in parts if name.endswith(".npy"))
    fewer = {name: content for name, content in parts.items() if name != array}
    for other in ({**parts, "more": b""}, fewer, {**fewer, "other.npy": parts[array]}):
        path.write_bytes(archive_of(other))
        with pytest.raises(ModelFileError, match="is damaged, or was edited"):
            vicinal.load(path)


@given(data=st.data())
def test_damage_is_found_wherever_it_is(data, saved):
    whole = saved.read_bytes()
    damaged = bytearray(whole)
    damaged[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    damaged = damaged[: data.draw(st.sampled_from([len(whole), len(whole) // 2]))]
    path = saved.with_name("damaged.skops")
    path.write_bytes(damaged)
    try:
        again = vicinal.load(path)
    except ModelFileError:
        return
    assert_same(again, fitted("pipeline"))  # in what neither matters nor is read


# -------------------------------------------------------------------------------- how it is written


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "model"
    path.write_text("before")
    with pytest.raises(TypeError, match="cannot be saved"):
        vicinal.save(fitted("nca").__class__(init=open), path)
    assert path.read_text() == "before"
    vicinal.save(fitted("nca"), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        vicinal.save(fitted("nca"), tmp_path / "none" / "model")


@pytest.mark.parametrize("kind", [str, Path, os.fspath])
def test_any_path(kind, tmp_path):
    path = kind(tmp_path / "model.anything")
    vicinal.save(fitted("nca unfitted"), path)
    assert_same(vicinal.load(path), fitted("nca unfitted"))


def test_files_are_compressed(tmp_path):
    vicinal.save(fitted("nca"), tmp_path / "model")
    with ZipFile(tmp_path / "model") as archive:
        packed = sum(info.compress_size for info in archive.infolist())
        assert packed < 0.5 * sum(info.file_size for info in archive.infolist())


def test_only_estimators_are_saved(tmp_path):
    with pytest.raises(TypeError, match=r"model must be an estimator, got dict: \{'a': 1\}"):
        vicinal.save({"a": 1}, tmp_path / "model")


def test_advice_for_trees_and_searches(tmp_path):
    labels = fitted("nca").predict(X)
    model = make_pipeline(KNeighborsClassifier(algorithm="kd_tree")).fit(X, labels)
    with pytest.raises(TypeError, match=r"_kd_tree\.KDTree.* algorithm='brute'\.$"):
        vicinal.save(model, tmp_path / "model")
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 2]}).fit(X, labels)
    with pytest.raises(TypeError, match=r"GridSearchCV cannot.*save its best_estimator_ instead"):
        vicinal.save(search, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_without_skops(monkeypatch, saved, tmp_path):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'vicinal\[save\]'"):
        vicinal.save(fitted("nca"), tmp_path / "model")
    with pytest.raises(ImportError, match=r"pip install 'vicinal\[save\]'"):
        vicinal.load(saved)
