"""The file of a model: an archive of skops with a header, sealed by a checksum."""

import hashlib
import io
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import vicinal
from vicinal.archives import open_archive, parts_of, read_member
from vicinal.saving.header import FORMAT, MOST_BYTES, ModelFileError, ModelHeader
from vicinal.saving.text import printable

__all__ = ["blaming", "open_file", "opened", "read_header", "sealed", "verify"]

AnyPath = str | os.PathLike[str]

_HEADER = "vicinal.json"


def sealed(archive: bytes, header: ModelHeader) -> bytes:
    """The archive with the header and a checksum of both."""
    stream = io.BytesIO(archive)
    with ZipFile(stream) as source:
        header = header.with_checksum(_checksum(source, header.to_json()))
    with ZipFile(stream, "a", ZIP_DEFLATED) as target:
        target.writestr(_HEADER, header.to_json())
    return stream.getvalue()


def open_file(path: AnyPath) -> BinaryIO:
    """A stream to read from; not of a device or a pipe, which might never end."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"'{path}' is a folder: name a file in it that vicinal.save wrote")
    if path.exists() and not path.is_file():
        raise OSError(f"'{path}' is not a regular file: name one that vicinal.save wrote")
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no model file '{path}'") from None
    except PermissionError:
        raise PermissionError(f"'{path}' may not be read: its permissions forbid it") from None


def read_header(stream: BinaryIO, path: AnyPath) -> ModelHeader:
    """The header of an archive; `path` is for messages."""
    with blaming(path, "is not a vicinal model file, or it is damaged"), opened(stream) as archive:
        if _HEADER not in archive.namelist():
            raise ModelFileError(
                f"'{path}' is not a vicinal model file: it is an archive without {_HEADER}. "
                "vicinal.load reads what vicinal.save wrote."
            )
        with blaming(path, "is damaged: its header is unreadable"):
            header = ModelHeader.from_json(read_member(archive, _HEADER, MOST_BYTES))
    if header.format > FORMAT:
        raise ModelFileError(
            f"'{path}' was written by vicinal {header.vicinal} (format {header.format}); this is "
            f"vicinal {vicinal.__version__}, which reads format {FORMAT}: upgrade vicinal."
        )
    return header


def verify(stream: BinaryIO, header: ModelHeader, path: AnyPath) -> None:
    """Raise an error where an archive is not what was saved."""
    with blaming(path, "is damaged"), opened(stream) as archive:
        found = _checksum(archive, read_member(archive, _HEADER, MOST_BYTES))
    if found != header.checksum:
        raise ModelFileError(
            f"'{path}' is damaged, or was edited: its contents do not have the checksum that they "
            "were saved with. Save the model again, or get another copy of the file."
        )


@contextmanager
def blaming(path: AnyPath, what: str, by_whom: str = "") -> Iterator[None]:
    """Whatever goes wrong in this context is the fault of a file."""
    try:
        yield
    except (ModelFileError, Warning):
        raise
    # Not a list of errors: those of zipfile, zlib, json, NumPy, SciPy, scikit-learn and skops have
    # nothing in common, and whoever loads a file of others must know which error to expect.
    except Exception as error:
        told = printable(error if isinstance(error, ValueError | BadZipFile) else repr(error))
        raise ModelFileError(f"'{path}' {what} ({told}){by_whom}.") from error


@contextmanager
def opened(stream: BinaryIO) -> Iterator[ZipFile]:
    """An archive whose sizes are no lies; what zipfile or NumPy would warn of is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with open_archive(stream) as archive:
                yield archive
        except Warning as warning:
            raise ValueError(warning) from None


def _checksum(archive: ZipFile, header: bytes) -> str:
    """SHA-256 of names and contents of all members, and of all else in the header."""
    digest = hashlib.sha256()
    for name in sorted(archive.namelist()):
        if name != _HEADER:
            _add(digest, name.encode())
            member = archive.getinfo(name)
            digest.update(member.file_size.to_bytes(8, "big"))
            for part in parts_of(archive, member):
                digest.update(part)
    entries = {name: value for name, value in json.loads(header).items() if name != "checksum"}
    _add(digest, json.dumps(entries, sort_keys=True).encode())
    return digest.hexdigest()


def _add(digest: "hashlib._Hash", part: bytes) -> None:
    """Digest a part, its length first, so that no two lists of parts are the same bytes."""
    digest.update(len(part).to_bytes(8, "big"))
    digest.update(part)
