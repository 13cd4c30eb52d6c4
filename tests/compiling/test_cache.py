import shutil
from collections import namedtuple
from pathlib import Path

import numba
import pytest
from numba.core import serialize
from numba.core.codegen import CPUCodegen as Codegen
from numba.core.compiler import CompileResult

import vicinal
from vicinal import compiling
from vicinal.compiling import CompilingWarning
from vicinal.compiling.cache import _SOURCES, KernelCache
from vicinal.compiling.decorators import kernel


def twice(x):
    return 2 * x


def thrice(x):
    return 3 * x


def length(box):
    return box.high - box.low


def started(function=twice):
    """The kernel as a process that has just started has it."""
    return kernel()(function)


def was_loaded(compiled):
    return bool(compiled.stats.cache_hits)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where compiled kernels go; nothing has been said yet."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(compiling, "_said", set())
    return tmp_path / "kernels"


def kept(folder):
    return sorted(file for file in folder.rglob("*") if file.is_file())


def test_compiled_once_and_loaded_from_then_on(folder):
    first, second = started(), started()
    assert first(3) == second(3) == 6
    assert not was_loaded(first)
    assert was_loaded(second)
    assert len(kept(folder)) == 1
    assert second(1.5) == 3.0
    assert len(kept(folder)) == 2


def half(content):
    return content[: len(content) // 2]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [lambda content: b"", half, flipped, lambda content: content[:32], lambda content: bytes(5000)],
    ids=["empty", "half", "one bit", "seal only", "zeros"],
)
def test_a_damaged_file_is_compiled_again_and_replaced(folder, damage):
    started()(3)
    (file,) = kept(folder)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(CompilingWarning, match=r"compiled again .*twice.* is damaged"):
        assert started()(3) == 6
    healed = started()
    assert healed(3) == 6
    assert was_loaded(healed)


def test_a_file_under_another_name_is_not_taken_for_it(folder):
    """As numba's own cache does where two processes compile at once, or a disk fills up."""
    started()(3)
    (of_integers,) = kept(folder)
    started()(1.5)
    (of_floats,) = set(kept(folder)) - {of_integers}
    shutil.copy(of_integers, of_floats)
    with pytest.warns(CompilingWarning, match="compiled again"):
        assert started()(1.5) == 3.0


def test_no_folder_to_write_to(folder):
    folder.write_text("not a folder")
    with pytest.warns(CompilingWarning, match="Set NUMBA_CACHE_DIR to a folder"):
        assert started()(3) == 6
    assert started(thrice)(3) == 9  # said once


def test_a_file_that_is_not_for_us(folder):
    started()(3)
    (file,) = kept(folder)
    file.unlink()
    file.mkdir()  # permissions mean nothing to root
    with pytest.warns(CompilingWarning, match="cannot be kept"):
        assert started()(3) == 6


def test_a_folder_that_vanishes(folder):
    compiled = started()
    assert compiled(3) == 6
    shutil.rmtree(folder)
    assert compiled(1.5) == 3.0
    assert len(kept(folder)) == 1


def test_a_full_disk(folder):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.warns(CompilingWarning, match="cannot be kept"):
            assert started()(3) == 6
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert kept(folder) == []
    assert started()(3) == 6
    assert len(kept(folder)) == 1


def test_of_two_folders_the_first_that_takes_it(folder, tmp_path, monkeypatch):
    blocked, free = tmp_path / "file", tmp_path / "free"
    blocked.write_text("not a folder")
    monkeypatch.setattr(KernelCache, "_folders", lambda cache: [blocked, free])
    assert started()(3) == 6
    assert len(kept(free)) == 1
    assert was_loaded_after(started(), 3)


def was_loaded_after(compiled, argument):
    compiled(argument)
    return was_loaded(compiled)


@pytest.mark.parametrize("damaged", [0, 1])
def test_of_two_files_the_whole_one(folder, tmp_path, monkeypatch, damaged):
    folders = [tmp_path / "one", tmp_path / "two"]
    monkeypatch.setattr(KernelCache, "_folders", lambda cache: folders)
    assert started()(3) == 6
    shutil.copytree(*folders)
    (file,) = kept(folders[damaged])
    file.write_bytes(b"")
    assert was_loaded_after(started(), 3)


def test_another_numba_or_python_has_files_of_its_own(folder, monkeypatch):
    started()(3)
    with monkeypatch.context() as patch:
        patch.setattr(numba, "__version__", "0.1")
        assert not was_loaded_after(started(), 3)
        patch.setattr("sys.implementation.cache_tag", "cpython-42")
        assert not was_loaded_after(started(), 3)
    assert len(kept(folder)) == 3
    assert was_loaded_after(started(), 3)


def test_another_order_of_fields_is_another_kernel(folder):
    one, other = namedtuple("Box", "low high"), namedtuple("Box", "high low")
    assert started(length)(one(low=1.0, high=3.0)) == 2.0
    assert started(length)(other(low=1.0, high=3.0)) == 2.0


def test_kernels_of_other_sources_are_removed(folder, monkeypatch):
    started()(3)
    started(thrice)(3)
    monkeypatch.setattr("vicinal.compiling.cache.source_stamp", lambda: "0123456789abcdef")
    assert not was_loaded_after(started(), 3)
    names = [file.name for file in kept(folder)]
    assert sum("twice" in name for name in names) == 1
    assert sum("thrice" in name for name in names) == 1


def test_the_stamp_knows_every_file_of_kernels():
    package = Path(vicinal.__file__).parent
    for source in package.rglob("*.py"):
        text = source.read_text()
        if "njit" in text or "compiling.decorators import" in text:
            relative = source.relative_to(package).as_posix()
            assert relative.startswith(_SOURCES), f"{relative} has kernels: add it to _SOURCES"


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (CompileResult, "_reduce"),
        (CompileResult, "_rebuild"),
        (serialize, "dumps"),
        (Codegen, "magic_tuple"),
    ],
)
def test_a_numba_with_other_insides_costs_the_cache_only(folder, monkeypatch, owner, name):
    started()(3)
    monkeypatch.delattr(owner, name)
    with pytest.warns(CompilingWarning, match=name):
        assert [started()(3), started()(1.5)] == [6, 3.0]
