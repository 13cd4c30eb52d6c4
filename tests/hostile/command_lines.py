"""Random command lines about hostile tables, and what must hold whatever they are.

The exit code is a documented one. A failure says one line, writes nothing, and leaves
all files as they were; a success writes what was asked for. No traceback, no control
character reaches a terminal. JSON is JSON. Cells that are kept are those of the file.
The same command says the same again.
"""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np

from tests.hostile.table_files import ESCAPES, NAMES, TableFile, write_table

__all__ = ["check"]

SEED = 20260716
_RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
_TIMES = re.compile(r'"seconds": [^,]*|"bytes": [^,]*|Time +\S+.*|Saved +\S+.*')  # may differ
_EVERY_PROCESS = 40  # of the cases one is a process of its own, with streams that fail


@dataclass(frozen=True)
class Ended:
    """What a command did."""

    code: int | str | None
    out: bytes
    err: str
    files: dict[str, bytes]

    @property
    def text(self) -> str:
        return self.out.decode(errors="backslashreplace")


def check(case: int) -> list[str]:
    """Run the command line with that number.

    Parameters
    ----------
    case : int

    Returns
    -------
    list of str
        The laws that were broken, and how to see that again.
    """
    rng = np.random.default_rng([SEED, case])
    broken: list[str] = []
    with TemporaryDirectory() as name, _surroundings(rng, Path(name)):
        folder = Path(name)
        table = write_table(rng, folder, "data")
        args = _command(rng, folder, table)
        before = _files(folder)
        if case % _EVERY_PROCESS == 0:
            broken += _as_process(rng, args, before)
        else:
            first = _run(args, table)
            broken += _laws(args, table, before, first)
            if first.code == 0 and not broken:
                _restore(folder, before)
                broken += _repeats(args, first, _run(args, table))
    return [f"check({case}): vicinal {shlex.join(args)}: {law}" for law in broken]


@contextmanager
def _surroundings(rng: np.random.Generator, folder: Path) -> Iterator[None]:
    """In the folder, with a terminal of some width; warnings as users have them."""
    home, environment = Path.cwd(), dict(os.environ)
    os.environ["COLUMNS"] = str(rng.choice(["80", "80", "200", "1", "0", "x"]))
    os.environ |= {"NO_COLOR": "1"} if rng.random() < 0.5 else {}
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            yield
    finally:
        os.chdir(home)
        os.environ.clear()
        os.environ |= environment


# --------------------------------------------------------------------------------- command lines


def _command(rng: np.random.Generator, folder: Path, table: TableFile) -> list[str]:
    """Random arguments; most of them could be meant."""
    commands = ["fit", "transform", "predict", "score", "info", "embed", "report", "datasets"]
    commands += ["compare", ""]
    shares = [0.22, 0.17, 0.13, 0.17, 0.08, 0.08, 0.03, 0.06, 0.03, 0.03]
    command = str(rng.choice(commands, p=shares))
    data = "-" if rng.random() < 0.08 else table.path.name
    if command == "":
        return _nonsense(rng, data)
    if command in ("fit", "embed", "compare"):
        args = [command, data]
    elif command == "datasets":
        args = [command, str(rng.choice(["iris", "wine", "nothing", ESCAPES])), "--no-download"]
        args = args if rng.random() < 0.8 else [command, "--json"]
    else:
        args = [command, _model(rng, folder), *([] if command == "info" else [data])]
    for option in _OPTIONS[command]:
        args += _given(rng, option, table)
    return args


def _nonsense(rng: np.random.Generator, data: str) -> list[str]:
    lines = [[], ["--help"], ["--version"], ["fit"], ["dance"], ["fit", "--help"], [f"-{ESCAPES}"]]
    lines += [["demo", "-o", "-"], ["demo", "--seed", "x"], ["fit", data, "--", "-o"], ["", data]]
    return lines[rng.integers(len(lines))]


@cache
def _models() -> dict[str, bytes]:
    """Small ones of every family, and what is none."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import vicinal

    rng, folder = np.random.default_rng(SEED), Path(mkdtemp())
    names, y = np.array(["a", "b", "c"]), np.arange(30) % 3
    import polars as pl

    X = pl.DataFrame(rng.normal(size=(30, 3)) + np.eye(3)[y], schema=names.tolist())
    words = np.array(["u", "v", "w"])[y]
    models = {
        "nca": vicinal.NeighborhoodComponents(2, max_iter=5),
        "coincidence": make_pipeline(StandardScaler(), vicinal.LatentCoincidence()),
        "local": vicinal.LocalComponents(max_iter=5),
        "classifier": vicinal.CoincidenceClassifier(),
        "map": vicinal.DivergenceEmbedding(gamma=0.1),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = {name: model.fit(X, words) for name, model in models.items()}
        fitted["numbers"] = vicinal.NeighborhoodComponents(1, max_iter=5).fit(X.to_numpy(), y)
    fitted["bare"] = vicinal.LocalComponents()
    for name, model in fitted.items():
        metadata = {"target": "kind"} if name != "bare" else {"columns": [ESCAPES], "rows": "?"}
        vicinal.save(model, folder / name, metadata=metadata)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    return found | {"short": found["nca"][:999], "empty": b"", "text": b"a,b\n1,2\n"}


def _model(rng: np.random.Generator, folder: Path) -> str:
    usual = ["nca", "nca", "local", "coincidence", "numbers", "classifier", "map"]
    odd = ["bare", "short", "empty", "text", "none"]
    name = str(rng.choice(usual if rng.random() < 0.93 else odd))
    if name in _models():
        (folder / f"{name}.skops").write_bytes(_models()[name])
    return f"{name}.skops"


_TABLES = {"-o": 0.5, "--to": 0.1, "--keep": 0.4, "--keep-all": 0.2, "--defuse-formulas": 0.05}
_READING = {"--drop-missing": 0.5, "--format": 0.03, "--header": 0.05, "--no-header": 0.03}
_FITTING = {"-t": 0.95, "--drop": 0.9, "--columns": 0.05, "--one-hot": 0.25, "--set": 0.25}
_FITTING |= {"--seed": 0.3, "--standardize": 0.1, "--no-standardize": 0.2}
_OPTIONS: dict[str, list[tuple[str, float]]] = {
    command: list(options.items())
    for command, options in {
        "fit": {"--model": 1, "-o model": 0.97, "--json": 0.3, "--test-size": 0.2, "-d": 0.15}
        | {"-q": 0.3, "--engine": 0.05} | _FITTING | _READING,
        "embed": {"--method": 0.3, "--save": 0.2, "-k": 0.2, "-d": 0.2}
        | _FITTING | _TABLES | _READING,
        "transform": {"--ignore-unknown": 0.1} | _TABLES | _READING,
        "predict": {"-p": 0.3} | _TABLES | _READING,
        "score": {"--per-row": 0.4, "--json": 0.2, "-k": 0.05, "-t": 0.2} | _READING
        | {"-o": 0.15, "--keep": 0.1},
        "info": {"--json": 0.5},
        "report": {"-o page": 1, "-t": 0.2, "--test": 0.2, "--title": 0.3} | _READING,
        "compare": {"-t": 0.95, "--drop": 0.9, "--one-hot": 0.25, "--methods": 1, "--repeats": 1}
        | {"--folds": 0.3, "--max-samples": 0.3, "-d": 0.2, "--seed": 0.3, "-o": 0.3, "--json": 0.2}
        | {"--picture": 0.1, "--to": 0.05, "-q": 0.2} | _READING,
        "datasets": {"--part": 0.2, "-o": 0.5, "--to": 0.2, "-q": 0.3},
    }.items()
}  # fmt: skip

# What can be meant, and what cannot.
_VALUES: dict[str, tuple[list[str], list[str]]] = {
    "--to": (["csv", "tsv", "parquet", "arrow", "npy", "npz"], ["xlsx"]),
    "--format": (["csv"], ["tsv", "parquet", "npy"]),
    "--model": (["nca", "local", "coincidence"], ["svm"]),
    "--method": (["isomap", "laplacian", "lle", "mds"], [""]),
    "--seed": (["0", "7"], ["-1", "x", "99999999999"]),
    "--test-size": (["0.3", "0.5"], ["0", "1e-9", "0.999", "nan", "1", "-inf"]),
    "--engine": (["fused", "auto"], ["gpu", ESCAPES]),
    "--methods": (["raw,lda", "pca", "standardized", "raw,nca"], ["", "svm", ESCAPES]),
    "--folds": (["2", "3"], ["1", "1000", "x"]),
    "--repeats": (["1"], ["0", "2"]),
    "--max-samples": (["10", "20", "0"], ["1", "-1"]),
    "--picture": (["picture.svg"], ["-", "no/picture.png", "data.csv", "picture.xyz"]),
    "--part": (["all"], ["train", "test"]),
    "--title": (["T", f"<b>{ESCAPES}"], [""]),
    "-d": (["1", "2"], ["0", "-1", "99", "1.5"]),
    "-k": (["2", "3", "5"], ["0", "1000"]),
    "-o": (
        ["out.csv", "out.tsv", "out.parquet", "out.arrow", "out.npz", "out.npy", "out.csv.gz", "-"],
        ["no/x.csv", "out.xyz", ".", ""],
    ),
    "-o model": (["m.skops"], ["no/m", "-", "data.csv", ".", f"{ESCAPES}.skops"]),
    "-o page": (["page.html"], ["-", "no/page.html", "data.csv"]),
    "--save": (["map.skops"], ["-", "out.csv"]),
    "-t": (["kind"], ["a", "none", "y", ""]),
    "--set": (
        ["max_iter=3", "random_state=1", "n_jobs=1", "tol=0.1"],
        [
            *(
                "regularization=1e999",
                "regularization=auto",
                "kernel=",
                "x=1",
                "tol=NaN",
                "init={}",
            ),
            *("n_components=[1]", f"{ESCAPES}=1", "nonsense", "n_targets=0", "gamma=1e-300"),
            *("max_iter=-5", "solver=true", "batch_size=1", "n_neighbors=null", "tol=-Infinity"),
            *("random_state=x", "n_jobs=0", "max_iter=1e9", "smoothing=[[[]]]", "rank=1e400"),
        ],
    ),
}
_COLUMNS = ("--drop", "--columns", "--one-hot", "--keep")


def _given(rng: np.random.Generator, option: tuple[str, float], table: TableFile) -> list[str]:
    name, share = option
    if rng.random() >= share:
        return []
    typed = name.partition(" ")[0]
    if name == "--test":
        return [typed, str(rng.choice([table.path.name, "-", "none.csv"]))]
    if name in _COLUMNS:
        usual = {"--columns": "a,b", "--one-hot": "all"}.get(name, "id")
        odd = ["a,b", "all", f"x{ESCAPES}", *(table.columns or NAMES)]
        return [typed, usual if rng.random() < 0.85 else str(rng.choice(odd))]
    if name not in _VALUES:
        return [typed]
    usual_ones, odd_ones = _VALUES[name]
    return [typed, str(rng.choice(usual_ones if rng.random() < 0.93 else odd_ones))]


# ------------------------------------------------------------------------------------------- runs


def _run(args: list[str], table: TableFile) -> Ended:
    """As `main` does, with streams in memory."""
    from vicinal.cli import main

    content = table.path.read_bytes() if table.path.is_file() else b""
    usual = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(content))
    sys.stdout, sys.stderr = (io.TextIOWrapper(s, "utf-8", newline="\n") for s in (out, err))
    code: int | str | None = None
    try:
        main(args)
    except SystemExit as ended:
        code = ended.code
    except BaseException as error:
        code = f"{type(error).__name__}: {error}"
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        ended_as = Ended(code, out.getvalue(), err.getvalue().decode(), _files(Path.cwd()))
        sys.stdin, sys.stdout, sys.stderr = usual
    return ended_as


def _as_process(
    rng: np.random.Generator, args: list[str], before: dict[str, bytes]
) -> Iterator[str]:
    """A real process, one of whose streams may be closed, full or left."""
    where = str(rng.choice(["", "", ">&-", "2>&-", "> /dev/full", "2> /dev/full", "| true"]))
    line = (
        f"{shlex.join([sys.executable, '-m', 'vicinal', *args])} {where}; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    err = done.stderr.decode(errors="backslashreplace")
    if done.returncode not in (0, 1, 2):
        yield f"{where}: exit code {done.returncode}, {err[-300:]!r}"
    if "Traceback" in err or "panicked" in err:
        yield f"{where}: {err[-300:]!r}"
    # Facts that cannot be shown come after the work, with its remarks and its file.
    is_told = where.startswith(">") and "standard output cannot be written" in err
    if done.returncode and err.count("\n") != 1 and "2>" not in where and not is_told:
        yield f"{where}: failed with other than one line: {err[-600:]!r}"
    failed = done.returncode != 0 and not is_told
    yield from _changed(before, _files(Path.cwd()), args, failed=failed)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _restore(folder: Path, before: dict[str, bytes]) -> None:
    for name in {*_files(folder)} - {*before}:
        (folder / name).unlink()


# ------------------------------------------------------------------------------------------- laws


def _laws(
    args: list[str], table: TableFile, before: dict[str, bytes], ended: Ended
) -> Iterator[str]:
    if ended.code not in (0, 1, 2):
        yield f"exit code {ended.code}"
    if "Traceback" in ended.err or "--debug" in ended.err:
        yield f"not foreseen: {ended.err!r}"
    if _RAW.search(ended.err):
        yield f"control characters on stderr: {ended.err!r}"
    if any(not line.startswith("vicinal: ") for line in ended.err.splitlines()):
        yield f"a line of somebody else: {ended.err!r}"
    failed = ended.code != 0
    if failed and (ended.err.count("\n") != 1 or ended.out):
        yield f"failed with other than one line: {ended.err!r} {ended.out[:80]!r}"
    yield from _changed(before, ended.files, args, failed=failed)
    if not failed:
        yield from _results(args, table, ended)


def _changed(
    before: dict[str, bytes], after: dict[str, bytes], args: list[str], *, failed: bool
) -> Iterator[str]:
    """Inputs stay as they were, and nothing appears that was not asked for."""
    for name, content in before.items():
        if after.get(name) != content:
            yield f"{name} has changed"
    new = {*after} - {*before}
    asked = {*args, "vicinal-report.html"}
    if (failed and new) or not new <= asked:
        yield f"left behind {sorted(new)}"


def _results(args: list[str], table: TableFile, ended: Ended) -> Iterator[str]:
    command = args[0] if args else "--help"
    is_table = command in ("transform", "predict", "embed") or "--per-row" in args
    is_table = is_table or (command == "datasets" and "--json" not in args)
    if "--json" in args:
        try:
            json.loads(ended.text, parse_constant=lambda name: 1 / 0)
        except (ValueError, ZeroDivisionError) as error:
            yield f"no JSON: {error!r} {ended.text[:200]!r}"
    if not is_table and _RAW.search(ended.text):
        yield f"control characters on the screen: {ended.text!r}"
    if is_table and table.columns and command in ("transform", "predict") and "-" not in args[1:3]:
        yield from _kept(args, table.columns, ended)


def _kept(args: list[str], columns: dict[str, list[str]], ended: Ended) -> Iterator[str]:
    """Cells of text that are passed on to text are the very cells."""
    option = {one: args[i + 1] for i, one in enumerate(args[:-1])}
    path, kind = option.get("-o", "-"), option.get("--to")
    kind = kind or (Path(path).suffix.removeprefix(".") if path != "-" else "csv")
    if kind not in ("csv", "tsv") or {"--drop-missing", "--defuse-formulas"} & {*args}:
        return
    text = ended.out if path == "-" else ended.files[path]
    lines = io.StringIO(text.decode(), newline="")
    names, *rows = csv.reader(lines, delimiter="\t" if kind == "tsv" else ",")
    for name, *cells in zip(names, *rows, strict=True):
        is_result = name in ("component1", "predicted")
        if name in columns and not is_result and cells != columns[name]:
            yield f"column {name!r} has changed"


def _repeats(args: list[str], first: Ended, again: Ended) -> Iterator[str]:
    if args[:1] in (["fit"], ["embed"]) and "--seed" not in args:
        return  # what is drawn at random may differ
    if args[:1] == ["compare"] and ("--json" not in args or "-o" in args):
        return  # times are among its results
    if _TIMES.sub("", first.text) != _TIMES.sub("", again.text):
        yield f"says something else the second time: {first.text!r}, {again.text!r}"
    tables = {
        name for name in first.files if not name.endswith((".skops", ".html", ".svg", "map.out"))
    }
    if any(first.files[name] != again.files.get(name) for name in tables):
        yield "writes something else the second time"
