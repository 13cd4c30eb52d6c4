"""Files with tables that nobody would wish to read, and a few that are in order."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

NAMES = ["id", "a", "b", "c", "kind"]  # those that the models know

ESCAPES = "\x1b]0;owned\x07\x1b[31m"
_ODD_NAMES = [
    *("", " ", "*", "^.*$", "a", "component1", "predicted", "log_density", "y", "x1", "0", "1.5"),
    *(f"n{ESCAPES}", "[red]x[/red]", "[link=http://x]l", "=1+1", "é\u202e☃", "x" * 300, "a,b"),
    *("two\nlines", 'say "q"', "\ttab", "%s{}", "-", "--help", "NaN", "color=blue"),
]
_ODD_NUMBERS = [
    *("1e308", "-1e308", "1e151", "1e-320", "1e999", "inf", "-inf", "nan", "", "NA", "?", "-0"),
    *("007", "1e2", "+5", "1.", ".5", "99999999999999999999", "9007199254740993", "1,5", "1 000"),
    *("0x10", "1_000", "true", "2024-01-02", "x", "None", "１", "1.0.0", "12:30", "5 %", " 7 "),
]
_ODD_WORDS = [
    *("", " ", "NA", "007", "7", "1.0", "1e300", "=cmd|x", "+1", "@x", f"w{ESCAPES}", "[red]w"),
    *('q"q', "l\nl", "c,c", "s;s", "t\tt", "é☃", "nan", "True", "false", "x" * 500, "\u202ew"),
]
_CLASSES = [["u", "v"], ["0", "1", "2"], ["007", "7"], ["1.0", "2.0"], ["true", "false"]]


@dataclass(frozen=True)
class TableFile:
    """A file, and what is known of it.

    Attributes
    ----------
    path : Path
    columns : dict of str to list of str, or None
        Cells as they stand in the file, where it is text that can be read.
    """

    path: Path
    columns: dict[str, list[str]] | None = None


def write_table(rng: np.random.Generator, folder: Path, stem: str) -> TableFile:
    """A table of random contents in a random kind of file."""
    kind = rng.choice(["text", "typed", "arrays", "broken"], p=[0.55, 0.2, 0.1, 0.15])
    if kind == "arrays":
        return _write_arrays(rng, folder, stem)
    if kind == "broken":
        return _write_broken(rng, folder, stem)
    columns = _columns(rng)
    return (_write_text if kind == "text" else _write_typed)(rng, folder, stem, columns)


def _columns(rng: np.random.Generator) -> dict[str, list[str]]:
    """Cells by columns; few of them are odd, else nothing would ever be learned."""
    n = int(rng.choice([1, 2, 3, 8, 24, 40], p=[0.08, 0.06, 0.06, 0.2, 0.3, 0.3]))
    classes = _CLASSES[rng.integers(len(_CLASSES)) * rng.integers(2)]
    columns = {
        "id": [f"{rng.integers(1000):03d}" for _ in range(n)],
        **{name: [f"{x:.6g}" for x in rng.normal(size=n)] for name in "abc"},
        "kind": [str(rng.choice(classes)) for _ in range(n)],
    }
    for _ in range(rng.integers(3) * rng.integers(2)):
        name = str(rng.choice(NAMES))
        odd = _ODD_NUMBERS if name in "abc" else _ODD_WORDS
        columns[name][rng.integers(n)] = str(rng.choice(odd))
    if rng.random() < 0.1:
        columns["a"] = ["3"] * n
    for _ in range(rng.integers(3) * rng.integers(2)):
        extra = [str(rng.choice([*_ODD_NUMBERS, *_ODD_WORDS])) for _ in range(n)]
        columns[str(rng.choice(_ODD_NAMES))] = extra
    return columns


def _quoted(cell: str, separator: str) -> str:
    if any(c in cell for c in f'"\n\r{separator}') or cell == "":
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _write_text(
    rng: np.random.Generator, folder: Path, stem: str, columns: dict[str, list[str]]
) -> TableFile:
    separator = str(rng.choice([",", "\t", ";"], p=[0.8, 0.1, 0.1]))
    names = list(columns)
    if rng.random() < 0.05:
        names.append(names[-1])  # twice the same
    rows = zip(*(columns[name] for name in names), strict=True)
    lines = [separator.join(_quoted(cell, separator) for cell in row) for row in (names, *rows)]
    text = str(rng.choice(["\n", "\r\n"], p=[0.8, 0.2])).join(lines) + "\n"
    raw = text.encode(str(rng.choice(["utf-8", "utf-8-sig"], p=[0.8, 0.2])))
    name = stem + {",": ".csv", "\t": ".tsv", ";": ".csv"}[separator]
    if rng.random() < 0.1:
        raw, name = gzip.compress(raw), name + ".gz"
    (folder / name).write_bytes(raw)
    return TableFile(folder / name, columns if len(names) == len(columns) else None)


def _write_typed(
    rng: np.random.Generator, folder: Path, stem: str, columns: dict[str, list[str]]
) -> TableFile:
    frame = pl.DataFrame({name: _typed(rng, cells) for name, cells in columns.items()})
    if rng.random() < 0.15:
        odd = [[1, 2], b"\xff", {"s": 1}, None][rng.integers(4)]
        frame = frame.with_columns(odd=pl.Series([odd] * frame.height))
    path = folder / f"{stem}.{rng.choice(['parquet', 'arrow', 'feather'])}"
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path)
    return TableFile(path)


def _typed(rng: np.random.Generator, cells: list[str]) -> pl.Series:
    """Numbers where all are such; sometimes with gaps, categories, or large integers."""
    words = pl.Series(cells)
    numbers = words.cast(pl.Float64, strict=False)
    if numbers.null_count():
        return words.cast(pl.Categorical) if rng.random() < 0.2 else words
    if rng.random() < 0.1:
        return pl.Series([2**53 + 1, *range(len(cells) - 1)])
    if rng.random() < 0.1:
        return numbers.set(pl.Series(np.arange(len(cells)) == 0), None)
    return numbers.cast(pl.Float32) if rng.random() < 0.2 else numbers


def _write_arrays(rng: np.random.Generator, folder: Path, stem: str) -> TableFile:
    shape = [(24, 3), (8, 3), (1, 3), (0, 3), (24, 2), (24,), (2, 2, 3)][rng.integers(7)]
    dtype = str(rng.choice(["f8", "f4", "i8", ">f8", "f2", "c16", "U3", "bool", "O", "M8[s]"]))
    X = (9 * rng.normal(size=shape)).astype("i8").astype(dtype)
    if dtype in ("f8", ">f8") and X.size and rng.random() < 0.3:
        X.flat[0] = rng.choice([np.nan, np.inf, 1e308, 1e-320])
    if rng.random() < 0.5:
        np.save(folder / f"{stem}.npy", X, allow_pickle=True)
        return TableFile(folder / f"{stem}.npy")
    y = np.array(["u", "v"])[rng.integers(0, 2, int(rng.choice([shape[0], 3], p=[0.9, 0.1])))]
    name = str(rng.choice(["X", "Z"], p=[0.9, 0.1]))
    arrays = {name: X, "y": y} if rng.random() < 0.7 else {name: X}
    np.savez(folder / f"{stem}.npz", **arrays)  # type: ignore[arg-type]
    return TableFile(folder / f"{stem}.npz")


def _write_broken(rng: np.random.Generator, folder: Path, stem: str) -> TableFile:
    """What is no table, or was one."""
    good = write_table(np.random.default_rng(rng.integers(2**32)), folder, f"{stem}-good").path
    raw = good.read_bytes() if good.is_file() else b""
    good.unlink() if good.is_file() else good.rmdir() if good.is_dir() else None
    path = folder / f"{stem}{''.join(good.suffixes)}"
    choice = rng.integers(9)
    if choice == 0:
        path.mkdir()
    elif choice > 1:  # else it is not there
        path.write_bytes(_broken(rng, raw, int(choice)))
    return TableFile(path)


def _broken(rng: np.random.Generator, raw: bytes, choice: int) -> bytes:
    if choice == 2:
        return b""
    if choice == 3:
        return raw[: rng.integers(len(raw) + 1)]
    if choice == 4:
        return raw.partition(b"\n")[0]
    if choice == 5:
        return rng.bytes(300)
    if choice == 6:
        return raw.decode("utf-8", "replace").encode("utf-16")
    if choice == 7:
        return raw.replace(b"\n", b'\n"', 1) + b"\xe9\x00"[: rng.integers(3)]
    damaged = np.frombuffer(raw, dtype=np.uint8).copy()
    if len(damaged):
        damaged[rng.integers(0, len(damaged), 5)] = rng.integers(0, 256, 5)
    return damaged.tobytes()
