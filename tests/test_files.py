import errno
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from vicinal import files
from vicinal.files import check_target, whole_file

posix = pytest.mark.skipif(os.name != "posix", reason="modes, owners and links of POSIX")


def write(path, content=b"new"):
    with whole_file(path) as stream:
        stream.write(content)


def names(folder):
    return sorted(os.listdir(folder))


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old and longer")
    return path


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("others", [0, 1])
def test_an_error_leaves_all_as_it_was(error, others, old):
    for i in range(others):
        os.link(old, old.with_name(f"other {i}"))
    before = names(old.parent)

    def interrupted():
        with whole_file(old) as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert old.read_bytes() == b"old and longer"
    assert names(old.parent) == before


def test_threads_that_write_the_same_file(tmp_path):
    path, n = tmp_path / "file", 4
    barrier = threading.Barrier(n, timeout=30)

    def work(number):
        for _ in range(20):
            with whole_file(path) as stream:
                stream.write(bytes([number]) * 1000)
                barrier.wait()  # all of them have a draft now
                stream.write(bytes([number]) * 1000)

    with ThreadPoolExecutor(n) as pool:
        list(pool.map(work, range(n)))
    found = path.read_bytes()
    assert len(found) == 2000
    assert len(set(found)) == 1
    assert names(tmp_path) == ["file"]


def test_no_name_of_a_draft_can_be_foreseen(tmp_path):
    seen = set()
    for _ in range(3):
        with whole_file(tmp_path / "file"):
            seen.update(set(names(tmp_path)) - {"file"})
    assert len(seen) == 3


@posix
@pytest.mark.parametrize("planted", ["link", "dangling link", "file"])
def test_nothing_planted_in_place_of_a_draft_is_written_to(planted, tmp_path, monkeypatch):
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(files.secrets, "token_hex", lambda size: "0123")
    monkeypatch.setattr(os, "getpid", lambda: 7)
    for name in (".vicinal-0123.tmp", ".file.7.tmp"):  # the latter is what it once was
        if planted == "file":
            (folder / name).write_text("mine")
        else:
            (folder / name).symlink_to(victim)
    if planted == "link":
        victim.write_text("mine")
    with pytest.raises(FileExistsError):
        write(folder / "file")
    assert victim.exists() == (planted == "link")
    if planted != "dangling link":
        assert {path.read_text() for path in folder.iterdir()} == {"mine"}


@pytest.mark.parametrize("length", [1, 240, 255])
def test_names_of_any_length(length, tmp_path):
    path = tmp_path / ("x" * length)
    for content in (b"first", b"second"):
        write(path, content)
        assert path.read_bytes() == content
    assert names(tmp_path) == [path.name]


# ------------------------------------------------------------------------------ what a file keeps


@posix
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_new_files_have_the_usual_mode(mask, tmp_path):
    before = os.umask(mask)
    try:
        write(tmp_path / "ours")
        (tmp_path / "usual").write_bytes(b"")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "usual")]
    assert modes[0] == modes[1]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_keeps_its_mode(mode, old):
    old.chmod(mode)
    write(old)
    assert old.read_bytes() == b"new"
    assert stat.S_IMODE(old.stat().st_mode) == mode


@posix
def test_nobody_else_can_read_the_draft_of_a_private_file(old):
    old.chmod(0o600)
    with whole_file(old):
        (draft,) = set(old.parent.iterdir()) - {old}
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_file_keeps_its_owner(old):
    os.chown(old, 1234, 4321)
    write(old)
    assert (old.stat().st_uid, old.stat().st_gid) == (1234, 4321)


@posix
def test_who_may_not_give_files_away_keeps_them(old, monkeypatch):
    def refuse(*args):
        raise PermissionError(errno.EPERM, "no")

    monkeypatch.setattr(os, "fchown", refuse)
    write(old)
    assert old.read_bytes() == b"new"
    assert old.stat().st_uid == os.geteuid()


@pytest.mark.parametrize("content", [b"", b"short", b"much longer than it was before"])
def test_a_file_keeps_all_its_names(content, old):
    other = old.with_name("other")
    os.link(old, other)
    write(old, content)
    assert old.read_bytes() == other.read_bytes() == content
    assert old.samefile(other)
    assert names(old.parent) == ["file", "other"]


def test_what_could_not_be_copied_over_is_not_lost(old, monkeypatch):
    os.link(old, old.with_name("other"))

    def full(source, file):
        file.write(source.read(1))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.shutil, "copyfileobj", full)
    with pytest.raises(OSError, match=r"No space left.*what was to be written is in '") as caught:
        write(old, b"new")
    draft = Path(str(caught.value).rpartition("is in '")[2].removesuffix("'"))
    assert draft.read_bytes() == b"new"


@posix
def test_links_are_written_through(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("new", "old"):
        (tmp_path / name).symlink_to(Path("there", name))
    (tmp_path / "there" / "old").write_text("before")
    for name in ("new", "old"):
        check_target(tmp_path / name)
        write(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "there" / name).read_bytes() == b"new"
    assert names(tmp_path / "there") == ["new", "old"]


# ----------------------------------------------------------------------------------- on the disk


def test_it_is_on_the_disk_before_it_has_its_name_and_so_is_the_name(old, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace

    def noted_sync(file):
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else os.fstat(file).st_size)
        sync(file)

    def noted_replace(*args, **more):
        done.append("replaced")
        replace(*args, **more)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write(old, b"12345")
    assert done == ([5, "replaced", "folder"] if os.name == "posix" else [5, "replaced"])


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_disks_that_cannot_sync(code, old, monkeypatch):
    def refuse(file):
        raise OSError(code, "cannot")

    monkeypatch.setattr(os, "fsync", refuse)
    write(old)
    assert old.read_bytes() == b"new"


def test_disks_that_fail(old, monkeypatch):
    def fail(file):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        write(old)
    assert old.read_bytes() == b"old and longer"
    assert names(old.parent) == ["file"]


def test_where_the_system_lacks_what_posix_has(old):
    """As on Windows: no O_NOFOLLOW, no O_DIRECTORY, no fchown, no fchmod."""
    code = (
        "import os, sys\n"
        "for name in ('O_NOFOLLOW', 'O_DIRECTORY', 'fchown', 'fchmod'):\n"
        "    vars(os).pop(name, None)\n"
        "from vicinal.files import whole_file\n"
        "with whole_file(sys.argv[1]) as stream:\n"
        "    stream.write(b'new')\n"
    )
    subprocess.run([sys.executable, "-c", code, old], check=True)
    assert old.read_bytes() == b"new"
    assert names(old.parent) == ["file"]


# -------------------------------------------------------------------------- what is no place for it


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder '.*none' does not exist"):
        check_target(tmp_path / "none" / "file")


@posix
def test_a_link_into_no_folder(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "none" / "file")
    with pytest.raises(FileNotFoundError, match=r"the folder '.*none' does not exist"):
        check_target(tmp_path / "link")


@posix
def test_a_link_in_a_circle(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    for attempt in (check_target, write):
        with pytest.raises(OSError, match="symbolic links"):
            attempt(tmp_path / "link")
    assert names(tmp_path) == ["link"]


def test_what_is_no_file_is_never_replaced(tmp_path):
    places = [tmp_path / "folder"]
    places[0].mkdir()
    if hasattr(os, "mkfifo"):
        places.append(tmp_path / "pipe")
        os.mkfifo(places[1])
    for place in places:
        for attempt in (check_target, write):
            with pytest.raises(OSError, match="is not a regular file: name a file to write"):
                attempt(place)
    assert names(tmp_path) == [place.name for place in places]


def test_a_file_that_may_not_be_written_to(old, monkeypatch):
    # Root may write everywhere, so the answer of the system is made up.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != old)
    with pytest.raises(PermissionError, match=r"the file '.*file' is not writable: name another"):
        check_target(old, "the model")


@posix
def test_the_folder_that_counts_is_that_of_the_file(tmp_path, monkeypatch):
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
    (tmp_path / "closed" / "link").symlink_to(tmp_path / "open" / "file")
    (tmp_path / "open" / "link").symlink_to(tmp_path / "closed" / "file")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed")
    check_target(tmp_path / "closed" / "link")
    with pytest.raises(PermissionError, match=r"the folder '.*closed' is not writable"):
        check_target(tmp_path / "open" / "link")
