"""Fits in processes that are killed.

With a folder and the name of a fit this file makes it once, in a new interpreter. `nursery` is one
process whose forks make fits, since an interpreter takes longer to start than they do.
"""

import os
import signal
import sys
import time
import warnings
from contextlib import contextmanager
from multiprocessing import Pipe
from pathlib import Path
from subprocess import DEVNULL, Popen

import vicinal.files
import vicinal.fitting.checkpoints.journal as journal

HERE = Path(__file__).parent
ANSWER = "answer"


def often():
    """Write after every update; what a SIGKILL leaves does not depend on what the disk has."""
    journal.LEAST_SECONDS, journal.LARGEST_SHARE = 0.0, float("inf")
    vicinal.files._sync = lambda file: None


def make(folder, name):
    """Fit, and write down what was learned."""
    from checkpoints.cases import fit

    warnings.simplefilter("ignore")
    found = fit(name, Path(folder, "checkpoint"))
    Path(folder, f"{ANSWER}.part").write_text(found)
    Path(folder, f"{ANSWER}.part").replace(Path(folder, ANSWER))


class Killed(BaseException):
    """Like SIGKILL: nothing more is written."""


def killed(monkeypatch, after, fit):
    """Let a fit in this process end after so many writings."""
    store, n = journal.store, []

    def mortal(*args):
        if len(n) == after:
            raise Killed
        n.append(store(*args))

    with monkeypatch.context() as patch:
        patch.setattr(journal, "store", mortal)
        try:
            fit()
        except Killed:
            return
    raise AssertionError(f"the fit came to its end with {len(n)} writings")


class CountedCalls:
    """Kills this process before one of the calls that change files."""

    def __init__(self, kill_at):
        self.left = kill_at

    def install(self):
        """From here on."""

        def opened(*args, **kwargs):
            self.count()
            return _Killing(open(*args, **kwargs), self)

        vicinal.files.open = opened
        replace = Path.replace

        def replaced(*args):
            self.count()
            replace(*args)
            self.count()

        Path.replace = replaced

    def count(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class _Killing:
    """A file whose process may be killed between any two of its writings, some bytes at a time."""

    def __init__(self, file, counted):
        self._file, self._counted = file, counted

    def writelines(self, parts):
        for part in parts:
            for start in range(0, len(part), max(1, len(part) // 3)):
                self._counted.count()
                self._file.write(part[start : start + max(1, len(part) // 3)])
                self._file.flush()

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *error):
        self._counted.count()
        return self._file.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._file, name)


def _forked(folder, name, seconds, kill_at):
    """Whether a fork was killed: after so many seconds, or before that call."""
    child = os.fork()
    if child == 0:
        try:
            if kill_at:
                CountedCalls(kill_at).install()
            make(folder, name)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if seconds is not None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return _was_killed(status)
            time.sleep(min(0.002, seconds))
        os.kill(child, signal.SIGKILL)
    return _was_killed(os.waitpid(child, 0)[1])


def _was_killed(status):
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def serve(file):
    """Fork and answer until killed."""
    from multiprocessing.connection import Connection

    from checkpoints import cases

    often()
    seconds = {}
    with Connection(file) as asked:
        while True:
            question = asked.recv()
            name = question["name"]
            if name not in seconds:  # compiled once, for all forks
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    whole = cases.fit(name, None)
                    began = time.monotonic()
                    cases.fit(name, None)
                seconds[name] = time.monotonic() - began, whole
            if "folder" not in question:
                asked.send(seconds[name])
                continue
            asked.send(_forked(question["folder"], name, question["seconds"], question["kill_at"]))


@contextmanager
def nursery():
    """A process to ask for forks."""
    ours, theirs = Pipe()
    words = [sys.executable, str(HERE / "mortal.py"), "--serve", str(theirs.fileno())]
    process = Popen(words, pass_fds=[theirs.fileno()])
    theirs.close()  # so that an end of the process is the end of its answers

    def ask(**question):
        ours.send(question)
        return ours.recv()

    try:
        yield ask
    finally:
        process.kill()
        process.wait()
        ours.close()


def in_new_interpreter(folder, name):
    """A process that makes a fit."""
    words = [sys.executable, str(HERE / "mortal.py"), str(folder), name]
    return Popen(words, stderr=DEVNULL)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    if sys.argv[1] == "--serve":
        serve(int(sys.argv[2]))
    else:
        often()
        make(*sys.argv[1:])
