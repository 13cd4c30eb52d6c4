"""Model files damaged by chance or by malice, and what reading them may lead to.

Laws: `describe` and `load` raise a ModelFileError or return; nothing is warned of, the file stays
as it was, no size in it is believed before it is checked. What a loaded model answers is finite, or
a Python error that tells of it, be it a warning. Only kernels of no width may be infinitely dense,
and infinitely far from others.
"""

import io
import json
import re
import resource
import struct
import warnings
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.exceptions import InconsistentVersionWarning

import vicinal
from tests.saving.cases import NEW, PAIRS, X, fitted, local
from vicinal import DivergenceNeighbors
from vicinal.saving import ModelFileError, describe
from vicinal.saving.archive import _checksum

_SEED = 20_160_716

# Of every family, small; some with random generators, weights, names and streams.
MODELS = (
    "nca",
    "nca names",
    "nca float32",
    "nca weights",
    "nca background",
    "nca compact",
    "nca neighbors",
    "nca stream",
    "local full",
    "local low rank",
    "local each",
    "local stream",
    "coincidence",
    "coincidence pairs",
    "coincidence classes",
    "divergence",
    "divergence graph",
    "divergence diagonal",
    "isomap",
    "laplacian",
    "lle",
    "mds",
    "tsne",
    "pipeline",
    "local random state",
)

# More than any of these files may cost: they have some kilobytes.
_MOST_MEMORY = 2**30


@cache
def saved(name):
    """The file of a model, the same bytes in every process."""
    model = (
        local(random_state=np.random.RandomState(3)).fit(X)
        if name == "local random state"
        else fitted(name)
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "model")
        vicinal.save(model, path, metadata={"columns": ["a", "ç"], "n": 1.5})
        members = members_of(path.read_bytes())
    return resealed(timeless(members))


def timeless(members):
    """Without what no other process would write: addresses, and times of day and of updates."""
    text, names = members["schema.json"].decode(), {}
    for address in re.findall(r'"__id__": (\d+)', text):
        names.setdefault(address, str(1000 + len(names)))
    text = re.sub(r"\b\d{9,}\b", lambda found: names.get(found[0], found[0]), text)
    members = {re.sub(r"^\d+", lambda found: names[found[0]], k): v for k, v in members.items()}
    for part, key in places(json.loads(text)):
        if key == "time":
            members[part[key]["file"]] = array_file(np.arange(5.0))
    header = {**json.loads(members["vicinal.json"]), "created": "2024-01-01T00:00:00+00:00"}
    return {**members, "schema.json": text.encode(), "vicinal.json": json.dumps(header).encode()}


def array_file(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


# ---------------------------------------------------------------------------- archives and JSON


def members_of(content):
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members, packed=ZIP_DEFLATED):
    stream = io.BytesIO()
    with ZipFile(stream, "w", packed) as archive:
        for name, content in members.items():
            archive.writestr(ZipInfo(name), content, packed)
    return stream.getvalue()


def resealed(members):
    """With a good checksum, which is no secret; as it is, where the header is no JSON."""
    try:
        header = json.loads(members["vicinal.json"])
        with ZipFile(io.BytesIO(archive_of(members))) as archive:
            header["checksum"] = _checksum(archive, members["vicinal.json"])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return archive_of(members)
    return archive_of({**members, "vicinal.json": json.dumps(header).encode()})


def places(value):
    """Every container in a JSON value with every key in it."""
    left, found = [value], []
    while left:
        part = left.pop()
        keys = part if isinstance(part, dict) else range(len(part))
        found += [(part, key) for key in keys]
        left += [part[key] for key in keys if isinstance(part[key], dict | list)]
    return found


def deep(levels):
    text = "[" * levels + "]" * levels
    return text if levels > 400 else json.loads(text)


def hostile(rng, others=()):
    """A value of JSON that nobody expects."""
    values = [
        None, True, 0, 1, -1, 2, 3, 5, 2**31, -(2**63), 2**63, 10**13, 10**18, 10**400, 0.5, -1.5,
        1e308, float("nan"), float("inf"), "", "x", "numpy", "builtins", "os", "system", "é\ud800",
        "\x1b[2J", "x" * 10_000, [], {}, [[]], [1, 2, 3], {"__id__": 1}, deep(50), deep(300),
        deep(5000), "NdArrayNode", "ObjectNode", "ListNode", "schema.json", "NaN", "1e999", "-1",
        "[[1, 2], 3]", '"text"', "null", "100000000000", *others,
    ]  # fmt: skip
    return values[rng.integers(len(values))]


def edited_json(text, rng):
    """With one to three values replaced, moved or taken away."""
    value = json.loads(text)
    for _ in range(rng.integers(1, 4)):
        found = places(value)
        part, key = found[rng.integers(len(found))]
        other, other_key = found[rng.integers(len(found))]
        action = rng.integers(5)
        if action == 0 and isinstance(part, dict):
            del part[key]
        elif action == 1:
            part[key] = json.loads(
                json.dumps(other.get(other_key) if isinstance(other, dict) else 0)
            )
        elif action == 2 and isinstance(part, dict) and isinstance(part.get("content"), str):
            part["content"] = json.dumps(hostile(rng))
        else:
            part[key] = hostile(rng, [other])
            try:
                json.dumps(value)
            except ValueError:  # a circle
                part[key] = None
    return json.dumps(value).encode()


# ----------------------------------------------------------------------------- damage to the file


def truncated(content, rng):
    return content[: rng.integers(len(content))]


def flipped(content, rng):
    damaged = bytearray(content)
    for position in rng.integers(len(content), size=rng.integers(1, 9)):
        damaged[position] ^= 1 << rng.integers(8)
    return bytes(damaged)


def overwritten(content, rng):
    start, size = rng.integers(len(content)), int(rng.integers(1, 200))
    return content[:start] + rng.bytes(size) + content[start + size :]


def shifted(content, rng):
    """With bytes taken away, or more of them, or the same ones again."""
    start, stop = np.sort(rng.integers(len(content), size=2))
    return content[:start] + content[start:stop] * rng.integers(3) + content[stop:]


def garbage(content, rng):
    noise = rng.bytes(rng.integers(2000))
    return (b"", b"PK\x03\x04", b"PK\x05\x06", content[:100])[rng.integers(4)] + noise


def structure(content, rng):
    """With odd numbers in the directory of the archive, or in front of members."""
    damaged = bytearray(content)
    signatures = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06")
    starts = [i for mark in signatures for i in positions(content, mark)]
    for _ in range(rng.integers(1, 4)):
        place = starts[rng.integers(len(starts))] + int(rng.integers(4, 46))
        code = ("<H", "<I", "<Q")[rng.integers(3)]
        largest = 2 ** (8 * struct.calcsize(code)) - 1
        number = (0, 1, largest, largest - 1, largest // 2, int(rng.integers(70_000)))
        odd = struct.pack(code, min(number[rng.integers(6)], largest))
        damaged[place : place + len(odd)] = odd
    return bytes(damaged[: len(content)])


def positions(content, mark):
    start = content.find(mark)
    while start >= 0:
        yield start
        start = content.find(mark, start + 1)


# ------------------------------------------------------------------------- edits under the checksum


def edited_schema(content, rng):
    members = members_of(content)
    return resealed({**members, "schema.json": edited_json(members["schema.json"], rng)})


def edited_header(content, rng):
    members = members_of(content)
    return resealed({**members, "vicinal.json": edited_json(members["vicinal.json"], rng)})


def other_text(content, rng):
    """A header or a schema that is something else altogether."""
    texts = [
        b"", b"{}", b"[]", b"nul", b"\xff\xfe", b'{"format": 1}', b'{"format": true}', b"[" * 10**5,
        b'{"a":' * 10**5, b"1" * 10**5, b"{" + b'"a":1,' * 1000 + b'"b":2}', b'"\\ud800"', b"NaN",
        b" " * 10**6, b'{"protocol": 2}', b"[" + b"[]," * 10**4 + b"[]]",
    ]  # fmt: skip
    name = ("schema.json", "vicinal.json")[rng.integers(2)]
    return resealed({**members_of(content), name: texts[rng.integers(len(texts))]})


def swapped(content, rng):
    """With two arrays in each other's place, or one gone, or one more."""
    members = members_of(content)
    names = [name for name in members if name.endswith(".npy")] or list(members)
    one, other = (names[i] for i in rng.integers(len(names), size=2))
    action = rng.integers(4)
    if action == 0:
        members[one], members[other] = members[other], members[one]
    elif action == 1:
        del members[one]
    elif action == 2:
        members[one] = members["schema.json"]
    else:
        members[("../x.npy", "/etc/x", "a/b", "\x1b", "con.npy", "é")[rng.integers(6)]] = b"x"
    return resealed(members)


def array_in(members, rng):
    names = [name for name in members if name.endswith(".npy")]
    return names[rng.integers(len(names))] if names else None


def edited_array(content, rng):
    """With other numbers, or of another shape or type, and saved as it should be."""
    members = members_of(content)
    name = array_in(members, rng)
    if name is None:
        return truncated(content, rng)
    array = np.load(io.BytesIO(members[name]))
    action = rng.integers(6)
    if action == 0 and array.size and array.dtype.kind in "fi":
        odd = (np.nan, np.inf, -1.0, 0.0, 1e300, 1e-300, -np.inf, 7.0)[rng.integers(8)]
        chosen = rng.random(array.shape) < (0.1, 1.0)[rng.integers(2)]
        with np.errstate(all="ignore"):
            array = np.where(chosen, np.array(odd).astype(array.dtype), array)
    elif action == 1 and array.ndim:
        axis = rng.integers(array.ndim)
        keep = rng.integers(0, 2 * array.shape[axis] + 2)
        array = np.take(array, np.arange(keep) % max(1, array.shape[axis]), axis=axis, mode="clip")
    elif action == 2:
        array = array.T if array.ndim > 1 else array[..., None]
    elif action == 3:
        array = array.ravel() if array.ndim != 1 else array.reshape(1, -1)
    elif action == 4:
        kind = ("f4", "f8", "i8", "u1", "?", "U3", "S2", "c16", ">f8", "f2")[rng.integers(10)]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.nan_to_num(array).astype(kind) if array.dtype.kind == "f" else array
    else:
        array = np.zeros(tuple(rng.integers(0, 4, size=rng.integers(4))))
    return resealed({**members, name: array_file(array)})


SHAPES = (
    "(10000000000000,)", "(-1,)", "(0,)", "(3, -3)", "()", "(2**40,)", "(True,)", "(0, 10**9)",
    "(1000000, 1000000)", "'x'", "(1.5,)", "(999999999999999999999,)", "(5,)",
)  # fmt: skip
DTYPES = ("<f8", "|O", "<U0", "|V8", "<U999999999", "x", "a", "|S0", ">f8", "<M8[s]", "<c16")


def edited_array_header(content, rng):
    """With a header that promises something else."""
    members = members_of(content)
    name = array_in(members, rng)
    if name is None:
        return flipped(content, rng)
    raw = members[name]
    length = struct.unpack("<H", raw[8:10])[0]
    header = (
        f"{{'descr': {DTYPES[rng.integers(len(DTYPES))]!r}, "
        f"'fortran_order': {('True', 'False', '2')[rng.integers(3)]}, "
        f"'shape': {SHAPES[rng.integers(len(SHAPES))]}, }}"
    )
    if rng.random() < 0.3:
        header = ("{", "(" * 200, "'\\z'", "__import__('os')", "{" + " " * 9000, "1L")[
            rng.integers(6)
        ]
    text = header.encode().ljust(max(length, len(header))) + b"\n"
    version = ((1, 0), (2, 0), (3, 0), (9, 9))[rng.integers(4)] if rng.random() < 0.3 else (1, 0)
    size = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    members[name] = b"\x93NUMPY" + bytes(version) + size + text + raw[10 + length :]
    return resealed(members)


def lying_sizes(content, rng):
    """Good members, under a good checksum, whose sizes are said to be others."""
    members = members_of(content)
    name = list(members)[rng.integers(len(members))]
    whole = bytearray(resealed(members))
    central = whole.rfind(b"PK\x01\x02", 0, whole.rfind(name.encode()))
    size = struct.unpack("<I", whole[central + 24 : central + 28])[0]
    said = (0, 1, size - 1, size + 1, 2 * size, 2**31, 2**32 - 2)[rng.integers(7)]
    whole[central + 24 : central + 28] = struct.pack("<I", max(0, min(said, 2**32 - 1)))
    if rng.random() < 0.5:  # and the checksum of the archive with it
        start = zlib.crc32(members[name][: max(0, said)])
        whole[central + 16 : central + 20] = struct.pack("<I", start)
    return bytes(whole)


def references(content, rng):
    """Objects that stand for each other, in few lines: as often as can be, or in a circle."""
    members = members_of(content)
    schema = json.loads(members["schema.json"])
    attributes = schema["content"]["content"]
    node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    laughing = {**node, "__id__": 1, "content": []}
    for i in range(2, int(rng.integers(3, 60))):
        laughing = {**node, "__id__": i, "content": [laughing, {"__id__": i - 1}]}
    array = next(
        (dict(v) for v in attributes.values() if v.get("type") == "numpy"), {**node, "content": []}
    )
    values = (
        laughing,
        {**node, "__id__": 1, "content": [{**node, "__id__": 1, "content": []}]},
        {**node, "__id__": 1, "content": [{**array, "__id__": 100 + i} for i in range(50)]},
        {
            **node,
            "__class__": "AdamMoments",
            "__module__": "vicinal.fitting.stochastic",
            "content": [],
        },
        {**array, "__class__": "void", "__id__": 7},
        json.loads(members["schema.json"]),
    )
    name = list(attributes)[rng.integers(len(attributes))]
    attributes[name] = values[rng.integers(len(values))]
    return resealed({**members, "schema.json": json.dumps(schema).encode()})


def generators(content, rng):
    """Random states that were somewhere else."""
    members = members_of(content)
    odd = (-1, 624, 625, 10**8, -(10**8), 2**31, "x", None)[rng.integers(8)]
    text = members["schema.json"].decode()
    schema = json.loads(text)
    for part, key in places(schema):
        if key in ("pos", "has_gauss", "has_uint32", "uinteger", "inc") and rng.random() < 0.7:
            part[key]["content"] = json.dumps(odd)
    return resealed({**members, "schema.json": json.dumps(schema).encode()})


def stored(content, rng):
    """The same, not packed; no damage at all."""
    return archive_of(members_of(content), ZIP_STORED)


DAMAGE = (
    truncated, flipped, flipped, overwritten, shifted, garbage, structure, structure, edited_schema,
    edited_schema, edited_schema, edited_schema, edited_header, other_text, swapped, edited_array,
    edited_array, edited_array, edited_array_header, edited_array_header, lying_sizes, references,
    generators, stored,
)  # fmt: skip


# --------------------------------------------------------------------------------------- the laws


def check(case):
    """Violations of the laws in a case, each with how to repeat it."""
    rng = np.random.default_rng([_SEED, case])
    name, damage = MODELS[rng.integers(len(MODELS))], DAMAGE[rng.integers(len(DAMAGE))]
    content = damage(saved(name), rng)
    before = _memory()
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.skops")
        path.write_bytes(content)
        found, _ = _read(describe, path)
        more, model = _read(vicinal.load, path)
        found += more
        if path.read_bytes() != content:
            found.append("the file was changed")
    if model is not None:
        found += _answers(model)
    if _memory() - before > _MOST_MEMORY:
        found.append(f"{_memory() - before} bytes of memory")
    return [f"check({case}): {damage.__name__} of {name!r}: {text}" for text in found]


def _read(read, path):
    """Violations, and what was read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, found = read(path), []
        except ModelFileError as error:
            result, found = None, _told(error)
        except BaseException as error:
            result, found = None, [f"{read.__name__} raised {error!r:.200}"]
    odd = [w for w in caught if not issubclass(w.category, InconsistentVersionWarning)]
    return found + [f"{read.__name__} warned: {each.message}" for each in odd], result


def _told(error):
    """A message must be one line for a terminal; a lack of memory is a size that was believed."""
    text = str(error)
    found = [] if text.isprintable() and len(text) < 3000 else [f"the message is {text!r:.200}"]
    if isinstance(error.__cause__, MemoryError):
        found.append(f"a size was believed: {text:.200}")
    return found


def _answers(model):
    """Violations in what a model says about a few rows."""
    rows = NEW[:5]
    if getattr(model, "feature_names_in_", None) is not None:
        rows = pd.DataFrame(rows, columns=FRAME_NAMES)
    found = []
    for name in (
        "transform",
        "predict",
        "predict_proba",
        "score_samples",
        "pair_distance",
        "sample",
    ):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                asked = {"pair_distance": PAIRS[:5], "sample": 3}.get(name, rows)
                result = getattr(model, name)(asked)
        except MemoryError as error:
            found.append(f"{name} raised {error!r}")
        except Exception:
            continue
        else:
            may_be_infinite = name == "score_samples" or isinstance(model, DivergenceNeighbors)
            if not _is_finite(result, may_be_infinite):
                found.append(f"{name} said {np.asarray(result).ravel()[:5]}")
    return found


FRAME_NAMES = ["sepal length", "b", "ç", "<d>"]


def _is_finite(result, may_be_infinite):
    values = result.data if issparse(result) else np.asarray(result)
    if values.dtype.kind != "f":
        return True
    return bool((~np.isnan(values) if may_be_infinite else np.isfinite(values)).all())


def _memory():
    """The most that this process ever used."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
