"""The file of a model: an archive of skops with a header, sealed by a checksum."""

import hashlib
import io
import json
import os
import zlib
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import vicinal
from vicinal.saving.header import FORMAT, ModelFileError, ModelHeader

__all__ = ["open_file", "read_header", "sealed", "verify"]

AnyPath = str | os.PathLike[str]

_HEADER = "vicinal.json"

# What a damaged archive makes zipfile raise.
_DAMAGE = (BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)


def sealed(archive: bytes, header: ModelHeader) -> bytes:
    """The archive with the header and a checksum of both."""
    stream = io.BytesIO(archive)
    header = header.with_checksum(_checksum(stream, header.to_json()))
    with ZipFile(stream, "a", ZIP_DEFLATED) as target:
        target.writestr(_HEADER, header.to_json())
    return stream.getvalue()


def open_file(path: AnyPath) -> BinaryIO:
    """A stream to read from."""
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no model file '{path}'") from None


def read_header(stream: BinaryIO, path: AnyPath) -> ModelHeader:
    """The header of an archive; `path` is for messages."""
    header = _header(stream, path)
    if header.format > FORMAT:
        raise ModelFileError(
            f"'{path}' was written by vicinal {header.vicinal} (format {header.format}); this is "
            f"vicinal {vicinal.__version__}, which reads format {FORMAT}: upgrade vicinal."
        )
    return header


def _header(stream: BinaryIO, path: AnyPath) -> ModelHeader:
    try:
        with ZipFile(stream) as archive:
            text = archive.read(_HEADER)
        return ModelHeader.from_json(text)
    except KeyError:
        raise ModelFileError(
            f"'{path}' is not a vicinal model file: it is an archive without {_HEADER}. "
            "vicinal.load reads what vicinal.save wrote."
        ) from None
    except BadZipFile as error:
        raise ModelFileError(
            f"'{path}' is not a vicinal model file, or it is damaged: {error}."
        ) from None
    except (*_DAMAGE, ValueError) as error:
        raise ModelFileError(f"'{path}' is damaged: its header is unreadable ({error}).") from None


def verify(stream: BinaryIO, header: ModelHeader, path: AnyPath) -> None:
    """Raise an error where an archive is not what was saved."""
    try:
        with ZipFile(stream) as archive:
            text = archive.read(_HEADER)
        found = _checksum(stream, text)
    except _DAMAGE as error:
        raise ModelFileError(f"'{path}' is damaged: {error}.") from None
    if found != header.checksum:
        raise ModelFileError(
            f"'{path}' is damaged, or was edited: its contents do not have the checksum that they "
            "were saved with. Save the model again, or get another copy of the file."
        )


def _checksum(stream: BinaryIO, header: bytes) -> str:
    """SHA-256 of names and contents of all members, and of all else in the header."""
    digest = hashlib.sha256()
    with ZipFile(stream) as archive:
        for name in sorted(archive.namelist()):
            if name != _HEADER:
                _add(digest, name.encode())
                _add(digest, archive.read(name))
    entries = {name: value for name, value in json.loads(header).items() if name != "checksum"}
    _add(digest, json.dumps(entries, sort_keys=True).encode())
    return digest.hexdigest()


def _add(digest: "hashlib._Hash", part: bytes) -> None:
    """With its length first, so that no two lists of parts are the same bytes."""
    digest.update(len(part).to_bytes(8, "big"))
    digest.update(part)
