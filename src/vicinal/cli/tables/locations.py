"""Files by their paths, and what is in a store by its URL."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from vicinal.files import whole_file

__all__ = ["Url", "located", "whole_output"]


class Url(type(Path())):  # type: ignore[misc]
    """A URL where commands expect a path: it stays as it was typed, with all its slashes."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    def is_dir(self, **_: bool) -> bool:
        """No folder of this machine."""
        return False


def located(text: str | os.PathLike[str]) -> Path:
    """A path, or what looks like a URL.

    Examples
    --------
    >>> from vicinal.cli.tables.locations import located
    >>> str(located("s3://bucket/rows.csv")), located("s3://bucket/rows.csv").name
    ('s3://bucket/rows.csv', 'rows.csv')
    """
    text = os.fspath(text)
    if "://" not in text:
        return Path(text)
    found = Url(text)
    found.url = text
    return found


@contextmanager
def whole_output(path: Path) -> Iterator[BinaryIO]:
    """A stream to write to; `path` then holds all of it, or what it held before.

    What goes to a store is written to a scratch file first, and sent when it is whole.
    """
    if not isinstance(path, Url):
        with whole_file(path) as stream:
            yield stream
        return
    from vicinal.rows.opening import needed

    fsspec = needed("fsspec", f"writing '{path}'")
    store, place = fsspec.core.url_to_fs(str(path))
    with TemporaryDirectory(prefix="vicinal-") as folder:
        draft = Path(folder, "draft")
        with draft.open("wb") as stream:
            yield stream
        with draft.open("rb") as whole, store.transaction, store.open(place, "wb") as target:
            shutil.copyfileobj(whole, target)
