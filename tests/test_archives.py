import io
import struct
import tracemalloc
import zlib
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
import pytest

from vicinal import archives
from vicinal.archives import check_array, open_archive, read_member


def archive_of(members, packed=ZIP_DEFLATED):
    stream = io.BytesIO()
    with ZipFile(stream, "w", packed) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream


def array_file(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def claiming(content, size, checksum, packed=ZIP_DEFLATED):
    """An archive with one member that claims to be of another size."""
    whole = bytearray(archive_of({"x.npy": content}, packed).getvalue())
    directory = whole.index(b"PK\x01\x02")
    whole[directory + 16 : directory + 20] = struct.pack("<I", checksum)
    whole[directory + 24 : directory + 28] = struct.pack("<I", size)
    return io.BytesIO(whole)


def refused(stream, message):
    with pytest.raises(ValueError, match=message):
        open_archive(stream)


# ------------------------------------------------------------------------------------ the directory


@pytest.mark.parametrize("packed", [ZIP_STORED, ZIP_DEFLATED])
@pytest.mark.parametrize("content", [b"", b"x", bytes(3_000_000)])
def test_good_members_are_read(packed, content):
    with open_archive(archive_of({"x": content, "y.npy": b"1"}, packed)) as archive:
        assert read_member(archive, "x") == content


def test_large_members_have_other_records_but_are_read_all_the_same():
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive, archive.open("x", "w", force_zip64=True) as member:
        member.write(b"content")
    with open_archive(stream) as archive:
        assert read_member(archive, "x") == b"content"


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/b", "a/", "C:\\x", "é", "\x1b[2J", "x\ny", "x" * 256]
)
def test_odd_names(name):
    refused(archive_of({name: b"x"}), "no member may be called")


def test_the_same_name_twice():
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        archive.writestr("x", b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("x", b"other")
    refused(stream, "two of its members have the same name")


def test_other_ways_to_pack():
    refused(archive_of({"x": b"x"}, ZIP_LZMA), "x is packed in a way that is not used here")


def test_too_many_members(monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    open_archive(archive_of(dict.fromkeys("abc", b"")))
    refused(archive_of(dict.fromkeys("abcd", b"")), "4 members, more than 3")


def test_all_members_together_are_not_much_larger_than_the_file(monkeypatch):
    monkeypatch.setattr(archives, "ROOM", 10_000)
    open_archive(archive_of(dict.fromkeys("ab", bytes(5000))))
    refused(archive_of(dict.fromkeys("abc", bytes(100_000))), r"claim to unpack to 300000")


# ------------------------------------------------------------------------------------------- sizes


def found_out():
    return pytest.raises((ValueError, BadZipFile), match=r"is not of the size|Bad CRC")


@pytest.mark.parametrize("packed", [ZIP_STORED, ZIP_DEFLATED])
@pytest.mark.parametrize("size", [0, 1, 9, 11, 10_000_000])
def test_sizes_that_are_lies(size, packed):
    content = b"0123456789"
    stream = claiming(content, size, zlib.crc32(content[:size]), packed)
    with open_archive(stream) as archive, found_out():
        read_member(archive, "x.npy")


def test_no_more_is_unpacked_than_was_claimed():
    stream = claiming(bytes(50_000_000), 1, zlib.crc32(b"\0"))
    tracemalloc.start()
    try:
        with open_archive(stream) as archive, found_out():
            read_member(archive, "x.npy")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_at_most_so_much():
    with open_archive(archive_of({"x": bytes(100)})) as archive:
        assert len(read_member(archive, "x", 100)) == 100
        with pytest.raises(ValueError, match="x is too large: 100 bytes, at most 99"):
            read_member(archive, "x", 99)


# ------------------------------------------------------------------------------------------ arrays


def check(content):
    with open_archive(archive_of({"x.npy": content})) as archive:
        check_array(archive, "x.npy")


@pytest.mark.parametrize(
    "array",
    [
        np.array(1.5),
        np.zeros((0, 100_000)),
        np.asfortranarray(np.eye(3, dtype=np.float32)),
        np.array(["a", "ç"]),
        np.array([b"a"]),
        np.array([True, False]),
        np.arange(5, dtype=">i4"),
        np.zeros((2, 3, 4), dtype=complex),
        np.array(["2020-01-01"], dtype="M8[D]"),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_good_arrays(array):
    check(array_file(array))


def with_header(text, version=1):
    size = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + b"\n" + bytes(800)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("<f8", "(10000000000000,)"),  # 80 TB
        ("<f8", "(99,)"),
        ("<f8", "(101,)"),
        ("<f8", "(-10, -10)"),
        ("<f8", "(-1,)"),
        ("<f8", "(2305843009213693952, 8, 100)"),  # product of 2**64 and more
        ("<U0", "(10000000000000,)"),  # of no size
        ("|S0", "(1,)"),
        ("|O", "(100,)"),
        ("|V8", "(100,)"),
        ("<U2000000000", "(1,)"),
        ("[('a', '<f8')]", "(100,)"),
    ],
)
def test_arrays_that_promise_something_else(kind, shape):
    descr = kind if kind.startswith("[") else repr(kind)
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    with pytest.raises(
        ValueError, match=r"x\.npy (claims to have shape|is an array of)|not a valid dtype"
    ):
        check(with_header(header))


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"text" * 100, with_header("{}", 3)])
def test_what_is_no_array(content):
    with pytest.raises(ValueError, match=r"magic string|header|version"):
        check(content)


def test_a_member_that_is_a_folder():
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        archive.writestr(ZipInfo("folder/"), b"")
    refused(stream, "no member may be called 'folder/'")
