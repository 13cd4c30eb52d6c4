import io
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from vicinal import datasets
from vicinal.datasets import DatasetMismatch, DatasetUnavailable, storage
from vicinal.datasets.registry import REGISTRY

EMBEDDED = ["iris", "wdbc", "wine"]


def write_file(folder, name, rows=4):
    X = np.arange(2.0 * rows).reshape(rows, 2)
    storage.write_npz(folder / f"{name}.npz", storage.Table(X, np.arange(rows) % 2))


def test_names_lists_every_set_and_is_the_callers_own():
    names = datasets.names()
    assert names == sorted(REGISTRY)
    names.clear()
    assert len(datasets.names()) == 23


@pytest.mark.parametrize("spec", REGISTRY.values(), ids=REGISTRY)
def test_every_set_loads_from_the_folder(spec, reference_folder):
    assert datasets.is_available(spec.name)
    bunch = datasets.load(spec.name, download=False)
    assert bunch.name == spec.name
    assert bunch.data.shape == (spec.n_samples, spec.n_features)
    assert bunch.data.dtype == spec.dtype
    assert bunch.target.dtype == np.int64
    assert tuple(np.bincount(bunch.target)) == spec.class_counts
    assert bunch.target_names == list(spec.class_names)
    if spec.n_train is None:
        assert bunch.train is None
    else:
        assert bunch.train.dtype == bool
        np.testing.assert_array_equal(np.flatnonzero(bunch.train), np.arange(spec.n_train))


def test_descriptions_of_the_folder_hold_what_is_worth_knowing(reference_folder):
    assert "374" in datasets.load("pima").DESCR
    segment = datasets.load("segment").DESCR
    assert "2310 rows, 19 features, 7 classes" in segment
    assert "constant" in segment
    assert "210 training rows" in segment
    assert "rounded to six digits" in segment


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_equal_the_folders(name, reference_folder, monkeypatch):
    theirs = datasets.load(name, data_home=reference_folder)
    monkeypatch.delenv("VICINAL_DATA")
    ours = datasets.load(name)
    np.testing.assert_array_equal(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.target, theirs.target)
    assert (ours.data.dtype, ours.target.dtype) == (theirs.data.dtype, theirs.target.dtype)
    assert ours.DESCR == theirs.DESCR


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_need_neither_folder_nor_network(name, no_folder, openml, cache):
    bunch = datasets.load(name, download=False)
    spec = REGISTRY[name]
    assert tuple(np.bincount(bunch.target)) == spec.class_counts
    assert bunch.data.shape == (spec.n_samples, spec.n_features)
    assert bunch.target.dtype == np.int64
    assert openml.calls == []
    assert not cache.exists()


def test_a_changed_embedded_set_is_refused(no_folder, monkeypatch):
    fake = (np.zeros((150, 4)), np.repeat([0, 1, 2], 50))
    monkeypatch.setattr("sklearn.datasets.load_iris", lambda return_X_y: fake)
    with pytest.raises(DatasetMismatch, match=r"scikit-learn's copy differs.*verify=False"):
        datasets.load("iris")
    assert datasets.load("iris", verify=False).data.sum() == 0


def test_an_altered_file_is_refused_by_its_checksum(reference_folder, tmp_path):
    file = tmp_path / "wine.npz"
    shutil.copyfile(reference_folder / "wine.npz", file)
    file.chmod(0o600)
    assert datasets.load("wine", data_home=tmp_path).data.shape == (178, 13)
    with file.open("ab") as handle:
        handle.write(b"\0")
    with pytest.raises(DatasetMismatch) as caught:
        datasets.load("wine", data_home=tmp_path)
    for part in (str(file), "expected SHA-256 adc597add63e", "found ", "verify=False"):
        assert part in str(caught.value)


def test_any_other_file_is_refused_unless_verify_is_false(tmp_path):
    write_file(tmp_path, "pima")
    with pytest.raises(DatasetMismatch, match="expected SHA-256 fc7e1f05a4"):
        datasets.load("pima", data_home=tmp_path)
    bunch = datasets.load("pima", data_home=tmp_path, verify=False)
    assert bunch.data.shape == (4, 2)
    assert "4 rows, 2 features, 2 classes" in bunch.DESCR


@pytest.mark.parametrize(
    "content", ["text", "array", "no y", "pickle", "empty", "lengths"], ids=lambda kind: kind
)
def test_a_file_of_another_format_is_named(content, tmp_path):
    file, X = tmp_path / "pima.npz", np.zeros((3, 2))
    if content == "text":
        file.write_text("not an archive")
    elif content == "empty":
        file.write_bytes(b"")
    elif content == "array":
        with file.open("wb") as handle:
            np.save(handle, X)
    else:
        objects = np.array([{"run": "me"}] * 3, dtype=object)
        y = {"no y": {}, "pickle": {"y": objects}, "lengths": {"y": np.zeros(4)}}[content]
        np.savez(file, X=X, **y)
    with pytest.raises(DatasetMismatch, match=r"pima\.npz' is not an \.npz file with"):
        datasets.load("pima", data_home=tmp_path, verify=False)


@pytest.mark.parametrize("damage", ["shape", "packing"])
def test_damaged_archives_are_named(damage, tmp_path):
    file = tmp_path / "pima.npz"
    stream = io.BytesIO()
    np.save(stream, np.arange(2000.0).reshape(1000, 2))
    X = stream.getvalue()
    if damage == "shape":  # 160 TB
        X = X.replace(b"(1000, 2), }         ", b"(10000000000000, 2),}")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", X)
        archive.writestr("y.npy", X)
    if damage == "packing":
        raw = bytearray(file.read_bytes())
        raw[200:260] = b"\xff" * 60
        file.write_bytes(raw)
    with pytest.raises(DatasetMismatch, match=r"pima\.npz' is not an \.npz file with"):
        datasets.load("pima", data_home=tmp_path, verify=False)


def test_the_argument_goes_before_the_environment(tmp_path, monkeypatch):
    for folder, rows in (("argument", 4), ("environment", 6)):
        write_file(tmp_path / folder, "pima", rows)
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path / "environment"))
    assert len(datasets.load("pima", verify=False).data) == 6
    assert len(datasets.load("pima", data_home=tmp_path / "argument", verify=False).data) == 4


def test_the_folder_goes_before_scikit_learn(tmp_path):
    write_file(tmp_path, "iris")
    assert len(datasets.load("iris", data_home=tmp_path, verify=False).data) == 4


@pytest.mark.parametrize("origin", ["data_home", "VICINAL_DATA"])
def test_a_folder_that_does_not_exist_is_an_error(origin, tmp_path, monkeypatch, openml):
    absent = tmp_path / "absent"
    monkeypatch.setenv("VICINAL_DATA", str(absent) if origin == "VICINAL_DATA" else "")
    home = absent if origin == "data_home" else None
    with pytest.raises(DatasetUnavailable, match=rf"{origin} names the folder '.*absent'"):
        datasets.load("mnist", data_home=home)
    assert not datasets.is_available("mnist", data_home=home)
    assert openml.calls == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [("irsi", "Did you mean 'iris'"), ("MNIST", "Did you mean 'mnist'"), ("zzz", "Choose one of")],
)
def test_an_unknown_name_lists_the_names(name, hint):
    for function in (datasets.load, datasets.is_available):
        with pytest.raises(ValueError, match=hint) as caught:
            function(name)
        assert f"name={name!r}" in str(caught.value)
        assert ", ".join(datasets.names()) in str(caught.value)


@pytest.mark.parametrize("name", [None, 3, ["iris"]])
def test_a_name_that_is_no_string_is_unknown_too(name):
    with pytest.raises(ValueError, match="is not a data set"):
        datasets.load(name)


def test_unavailable_says_what_was_tried_and_what_to_do(no_folder, tmp_path, cache, openml):
    with pytest.raises(DatasetUnavailable) as caught:
        datasets.load("glass", download=False)
    for part in ("VICINAL_DATA is not set", str(cache), "download=False", "pass download=True"):
        assert part in str(caught.value)
    with pytest.raises(OSError, match=r"no glass\.npz in"):
        datasets.load("glass", data_home=tmp_path, download=False)
    assert openml.calls == []


def test_a_set_that_openml_lacks_says_so(no_folder, openml):
    with pytest.raises(DatasetUnavailable) as caught:
        datasets.load("usps_roweis")
    assert "OpenML does not have this version" in str(caught.value)
    assert "download=True" not in str(caught.value)
    assert openml.calls == []


def test_is_available_without_network(no_folder, tmp_path, cache):
    assert datasets.is_available("iris")
    assert not datasets.is_available("glass")
    write_file(tmp_path, "glass")
    assert datasets.is_available("glass", data_home=tmp_path)
    write_file(cache, "glass")
    assert datasets.is_available("glass")


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "own"))
    assert storage.cache_folder() == tmp_path / "own" / "datasets"
    monkeypatch.delenv("VICINAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert storage.cache_folder() == tmp_path / "xdg" / "vicinal" / "datasets"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for ignored in ("relative/path", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        expected = tmp_path / "home" / ".cache" / "vicinal" / "datasets"
        assert storage.cache_folder() == expected


def test_writing_is_atomic(tmp_path, monkeypatch):
    write_file(tmp_path, "old", rows=4)
    before = (tmp_path / "old.npz").read_bytes()

    def interrupted(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path, "old", rows=6)
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path, "new")
    assert os.listdir(tmp_path) == ["old.npz"]
    assert (tmp_path / "old.npz").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_others_may_read_what_was_written(tmp_path):
    """A cache may be shared: files have the mode that the umask gives."""
    write_file(tmp_path, "ours")
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "ours.npz").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_written_table_is_read_back(tmp_path):
    table = storage.Table(np.eye(3, dtype=np.float32), np.arange(3), np.array([True, False, True]))
    storage.write_npz(tmp_path / "deep" / "down.npz", table)
    found = storage.read_npz(tmp_path / "deep" / "down.npz")
    for ours, theirs in zip(table[:3], found[:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    assert found.foreign_names is None


def test_importing_stays_light():
    code = "import sys, vicinal.datasets; print('sklearn' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_user_without_a_home_has_a_cache(monkeypatch):
    monkeypatch.delenv("VICINAL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as where nobody knows the user
    assert storage.cache_folder().is_absolute()
