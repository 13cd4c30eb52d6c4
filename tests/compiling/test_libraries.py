import pytest

from vicinal.compiling.libraries import importing


def test_a_library_that_is_not_installed():
    with pytest.raises(
        ImportError, match=r"^this needs it: pip install 'vicinal\[that\]', or no\.$"
    ):
        fail(ModuleNotFoundError("no module"), otherwise=", or no")


def test_a_library_that_numba_cannot_keep():
    """As umap-learn and pynndescent where nothing can be written."""
    error = RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
    with pytest.raises(ImportError, match=r"this needs it, .* set NUMBA_CACHE_DIR to a folder"):
        fail(error)


def test_other_errors_are_the_library_s_own():
    with pytest.raises(RuntimeError, match="another"):
        fail(RuntimeError("another"))


def test_a_library_that_has_to_be_compiled(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with (
        pytest.raises(ImportError, match=r"this needs pynndescent, .* unset NUMBA_DISABLE_JIT"),
        importing("pynndescent", "neighbors", "this"),
    ):
        pass


def fail(error, otherwise=""):
    with importing("it", "that", "this", otherwise):
        raise error
