"""Archives that others may have made: no size that stands in one is believed before it is checked.

A few bytes can claim to be terabytes, and a few megabytes can unpack to gigabytes. Whatever is
wrong here raises an error of some kind (zipfile, zlib and NumPy have many); who reads a file for a
user turns them all into one that names it.
"""

import io
import math
import os
import re
from collections.abc import Iterator
from copy import copy
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

__all__ = ["check_array", "open_archive", "parts_of", "read_member"]

# Far more than a model has arrays.
MOST_MEMBERS = 100_000

# All members together may be so much larger than the file, and so many times as large. Zeros pack a
# thousandfold, but what was learned from data does not consist of zeros.
ROOM, RATIO = 2**28, 100

# What is unpacked at a time.
_PART = 2**20

# Longer than the header of an array without fields can be.
_LONGEST_HEADER = 2**14

# No folders, nothing absolute, nothing to confuse a terminal with.
_NAME = re.compile(r"[\w.-]{1,255}", re.ASCII)

# Logical, integer, floating and complex numbers, times and texts: no objects, no fields.
_KINDS = "biufcmMSU"


def open_archive(stream: BinaryIO) -> ZipFile:
    """The archive in a stream, if no member has an odd name or an absurd size."""
    size = stream.seek(0, os.SEEK_END)
    archive = ZipFile(stream)
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"it has {len(members)} members, more than {MOST_MEMBERS}")
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two of its members have the same name")
    for member in members:
        if not _NAME.fullmatch(member.filename):
            raise ValueError(f"no member may be called {member.filename!a:.80}")
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(f"{member.filename} is packed in a way that is not used here")
    total = sum(member.file_size for member in members)
    if total > ROOM + RATIO * size:
        raise ValueError(f"its {size} bytes claim to unpack to {total}")
    return archive


def parts_of(archive: ZipFile, member: ZipInfo) -> Iterator[bytes]:
    """The content of a member in parts, which must be as long as it says, neither less nor more."""
    longer = copy(member)
    longer.file_size += 1  # zipfile stops reading there, and would not notice that there is more
    n_left = member.file_size
    with archive.open(longer) as source:
        while part := source.read(min(_PART, n_left + 1)):
            n_left -= len(part)
            if n_left < 0:
                break
            yield part
    if n_left:
        raise ValueError(f"{member.filename} is not of the size that it claims to be")


def read_member(archive: ZipFile, name: str, most: int | None = None) -> bytes:
    """The content of a member, at most so many bytes."""
    member = archive.getinfo(name)
    if most is not None and member.file_size > most:
        raise ValueError(f"{name} is too large: {member.file_size} bytes, at most {most}")
    return b"".join(parts_of(archive, member))


def check_array(archive: ZipFile, name: str) -> None:
    """Refuse a ``.npy`` member that promises more or less than it holds."""
    member = archive.getinfo(name)
    with archive.open(member) as source:
        _check_header(source.read(_LONGEST_HEADER), member.file_size, name)


def _check_header(head: bytes, size: int, name: str) -> None:
    """Compare what the first bytes of a ``.npy`` file say with the size of all of it."""
    stream = io.BytesIO(head)
    version = np.lib.format.read_magic(stream)
    if version not in _READERS:
        raise ValueError(f"{name} has version {version} of NumPy's format")
    shape, _, dtype = _READERS[version](stream)
    if dtype.kind not in _KINDS:
        raise ValueError(f"{name} is an array of {dtype}")
    count, present = math.prod(shape), size - stream.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize != present or count > max(present, 0):
        raise ValueError(f"{name} claims to have shape {shape} of {dtype}, in {present} bytes")


_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
