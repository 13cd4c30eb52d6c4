"""Files that claim to be what they are not, with a checksum as good as any: it is no secret."""

import io
import json
import os
import tracemalloc

import numpy as np
import pytest
from saving.cases import FRAME, NAMES, X, assert_same, fitted, local, nca
from saving.test_files import archive_of, members
from scipy.sparse import csr_matrix, save_npz, spmatrix
from sklearn.pipeline import make_pipeline

import vicinal
from vicinal.saving import ModelFileError, describe
from vicinal.saving.archive import sealed
from vicinal.saving.header import MOST_BYTES, ModelHeader

skops = pytest.importorskip("skops.io")

LIST = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}


def write(path, model, change, header=None):
    """A file of the model with other members."""
    vicinal.save(model, path)
    parts = members(path)
    del parts["vicinal.json"]
    schema = json.loads(parts["schema.json"])
    change(schema, parts)
    parts["schema.json"] = json.dumps(schema).encode()
    path.write_bytes(sealed(archive_of(parts), header or ModelHeader.of(model, {})))
    return path


def attributes(schema, *names):
    """Of the model, or of a part of it."""
    for name in names:
        schema = schema["content"]["content"][name]
    return schema["content"]["content"]


def array_file(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.fixture
def refused(tmp_path):
    """Check that a file is refused, for little memory."""

    def check(model, change, message):
        path = write(tmp_path / "model", model, change)
        tracemalloc.start()
        try:
            with pytest.raises(ModelFileError, match=message):
                vicinal.load(path)
            assert tracemalloc.get_traced_memory()[1] < 50_000_000
        finally:
            tracemalloc.stop()

    return check


# ------------------------------------------------------------------------------------------- sizes


def test_a_header_that_unpacks_to_much(tmp_path):
    text = b"[" + b"[]," * 20_000_000 + b"[]]"
    (tmp_path / "model").write_bytes(archive_of({"vicinal.json": text}, packed=True))
    assert (tmp_path / "model").stat().st_size < 200_000
    for read in (describe, vicinal.load):
        tracemalloc.start()
        try:
            with pytest.raises(ModelFileError, match=r"vicinal.json is too large: 60000004 bytes"):
                read(tmp_path / "model")
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    "text", [b"[" + b"{}," * 2_000_000 + b"{}]", b"[" * 1_500_000, b'{"a":' * 1_500_000]
)
def test_a_header_of_many_values(text, tmp_path):
    (tmp_path / "model").write_bytes(archive_of({"vicinal.json": text}, packed=True))
    with pytest.raises(ModelFileError, match="values are too many"):
        describe(tmp_path / "model")


@pytest.mark.parametrize("levels", [300, 5000, 100_000])
def test_a_header_of_many_levels(levels, tmp_path):
    text = b'{"format": 1, "metadata": {"a": ' + b"[" * levels + b"]" * levels + b"}}"
    (tmp_path / "model").write_bytes(archive_of({"vicinal.json": text}))
    for read in (describe, vicinal.load):
        with pytest.raises(ModelFileError, match="nested too deeply"):
            read(tmp_path / "model")


def test_a_schema_that_unpacks_to_much(tmp_path):
    def puff_up(schema, parts):
        schema["more"] = " " * 30_000_000

    path = write(tmp_path / "model", nca(), puff_up)
    parts = members(path)
    path.write_bytes(archive_of(parts, packed=True))
    with pytest.raises(ModelFileError, match=r"schema.json is too large"):
        vicinal.load(path)


def test_a_schema_of_many_levels(refused):
    def nest(schema, parts):
        value = {**LIST, "__id__": 1, "content": []}
        for i in range(2, 120):
            value = {**LIST, "__id__": i, "content": [value]}
        attributes(schema)["tol"] = value

    refused(nca(), nest, "nested too deeply")


def test_an_array_of_eighty_terabytes(refused):
    def grow(schema, parts):
        name = attributes(schema)["init"]["file"]
        parts[name] = parts[name].replace(b"(2, 4), }         ", b"(10000000000000,), }")

    refused(nca(init=np.eye(2, 4)), grow, r"cannot be read \(.*npy")


def test_an_array_that_is_read_again_and_again(refused):
    def share(schema, parts):
        init = attributes(schema)["init"]
        copies = [{**init, "__id__": i} for i in range(1, 1000)]
        attributes(schema)["tol"] = {**LIST, "__id__": 10**9, "content": copies}

    refused(nca(init=np.eye(2, 4)), share, "would be read again and again")


def test_objects_that_refer_to_each_other_in_few_lines(refused):
    def laugh(schema, parts):
        value = {**LIST, "__id__": 1, "content": []}
        for i in range(2, 40):  # skops would visit the first 2³⁸ times
            value = {**LIST, "__id__": i, "content": [value, {"__id__": i - 1}]}
        attributes(schema)["tol"] = value

    refused(nca(), laugh, "two different objects have the same id")


def test_too_many_objects(refused):
    def multiply(schema, parts):
        one = {
            "__class__": "PCA",
            "__module__": "sklearn.decomposition._pca",
            "__loader__": "ObjectNode",
        }
        attributes(schema)["tol"] = {**LIST, "content": [one] * 30_000}

    refused(nca(), multiply, "3000. objects are too many")


@pytest.mark.parametrize(
    ("module", "name"), [("vicinal.fitting.stochastic", "AdamMoments"), ("numpy", "void")]
)
def test_what_would_be_called_with_a_size(module, name, refused):
    def call(schema, parts):
        init = attributes(schema)["init"]
        init.update(__module__=module, __class__=name)
        parts[init["file"]] = array_file(np.array(10**12))

    refused(nca(init=np.eye(2, 4)), call, f"contains {module}.{name}: vicinal refuses")


def test_covariances_that_would_be_multiplied(refused):
    """(n, 1, 1) between (k, 1) and (1, k) would be (n, k, k)."""

    def spread(schema, parts):
        density = attributes(schema, "_density")
        parts[density["covariances"]["file"]] = array_file(np.ones((300, 1, 1)))
        shape = attributes(schema, "_density", "shape")
        parts[shape["factor"]["file"]] = array_file(np.ones((1000, 1)))

    refused(fitted("local each"), spread, "do not fit")


# ---------------------------------------------------------------------------- parts that contradict


PARTS = [
    ("nca", ["_classifier", "keys"], lambda array: array[:, :1]),
    ("nca", ["_classifier", "labels"], lambda array: array + 1),
    ("nca", ["_classifier", "labels"], lambda array: array - 1),
    ("nca", ["components_"], lambda array: array * np.nan),
    ("nca", ["components_"], lambda array: array.astype(str)),
    ("nca", ["components_"], lambda array: array.T),
    ("nca weights", ["_classifier", "weights"], lambda array: -array),
    ("nca weights", ["_classifier", "log_weights"], lambda array: array[:1]),
    ("local full", ["_density", "points", "X"], lambda array: array[:, :2]),
    ("local full", ["_density", "shape", "factor"], lambda array: array * np.inf),
    ("coincidence classes", ["means_"], lambda array: array[:1]),
    ("divergence", ["gaussians_", "values"], lambda array: array[:, :1]),
    ("divergence", ["gaussians_", "values"], lambda array: array[:1]),
    ("divergence", ["gaussians_", "rest"], lambda array: array[:0]),
    ("divergence graph", ["gaussians_", "vectors"], lambda array: array[:, :1]),
    ("divergence diagonal", ["gaussians_", "diagonal"], lambda array: array[:1]),
    ("divergence", ["gaussians_", "vectors"], lambda array: array * np.nan),
    ("divergence many", ["gaussians_", "positions"], lambda array: array + 1),
    ("divergence many", ["gaussians_", "positions"], lambda array: array - 1),
    ("divergence many", ["gaussians_", "positions"], lambda array: array[:5]),
    ("divergence many", ["gaussians_", "least"], lambda array: 0 * array),
    ("laplacian", ["_map", "coordinates"], lambda array: array[:3]),
]


@pytest.mark.parametrize(("name", "where", "change"), PARTS)
def test_arrays_that_contradict_others(name, where, change, refused):
    def edit(schema, parts):
        node = attributes(schema, *where[:-1])[where[-1]]
        array = np.load(io.BytesIO(parts[node["file"]]))
        with np.errstate(all="ignore"):
            parts[node["file"]] = array_file(change(array))

    refused(fitted(name), edit, "is not what it must be")


@pytest.mark.parametrize("position", [-1, 625, 10**8])
def test_a_random_state_that_would_read_anywhere(position, refused):
    """NumPy's own does not look where it reads."""

    def move(schema, parts):
        state = attributes(schema)["random_state"]["content"]["content"]["state"]["content"]
        assert 0 <= int(state["pos"]["content"]) <= 624
        state["pos"]["content"] = str(position)

    drawn = np.random.RandomState(3)
    drawn.random_sample(200)  # a small position would be the same object as other small numbers
    model = local(random_state=drawn).fit(X)
    # The second is what NumPy says from 2.5 on, before we look.
    told = f"a random state is at position {position} of 624|position must be between 0 and 624"
    refused(model, move, told)


def test_a_sparse_matrix_that_would_read_anywhere(refused):
    """skops trusts what is called so, whatever scipy makes of it."""

    def point(schema, parts):
        matrix = csr_matrix(np.eye(4))
        matrix.indices[0] = 10**9
        stream = io.BytesIO()
        save_npz(stream, matrix)
        parts["1.npz"] = stream.getvalue()
        attributes(schema)["tol"] = {
            "__class__": spmatrix.__name__,
            "__module__": spmatrix.__module__,
            "__loader__": "SparseMatrixNode",
            "type": "scipy",
            "file": "1.npz",
        }

    refused(nca(), point, "spmatrix: vicinal refuses to load it")


# --------------------------------------------------------------------------------------- the header


def test_something_else_than_a_model(tmp_path):
    archive = skops.dumps({"a": 1})
    (tmp_path / "model").write_bytes(sealed(archive, ModelHeader.of(nca(), {})))
    with pytest.raises(ModelFileError, match="it is not the model that its header speaks of"):
        vicinal.load(tmp_path / "model")


def test_another_model_than_the_header_says(tmp_path):
    path = write(tmp_path / "model", nca(), lambda schema, parts: None, ModelHeader.of(local(), {}))
    assert describe(path).model == "LocalComponents"
    with pytest.raises(ModelFileError, match="it is not the model that its header speaks of"):
        vicinal.load(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": True},
        {"format": 0},
        {"format": -1},
        {"metadata": [1]},
        {"metadata": None},
        {"steps": "NeighborhoodComponents"},
        {"steps": [1]},
        {"versions": {"numpy": 2}},
        {"versions": ["numpy"]},
        {"steps": {"a": "b"}},
        {"model": None},
        {"vicinal": 3},
        {"checksum": ["x"]},
    ],
    ids=str,
)
def test_entries_that_readers_do_not_expect(changes, tmp_path):
    entries = json.loads(ModelHeader.of(nca(), {}).to_json())
    text = json.dumps({**entries, **changes}).encode()
    (tmp_path / "model").write_bytes(archive_of({"vicinal.json": text}))
    for read in (describe, vicinal.load):
        with pytest.raises(ModelFileError, match="its header is unreadable"):
            read(tmp_path / "model")


def test_numbers_that_json_does_not_have(tmp_path):
    text = b'{"format": 1, "metadata": {"a": NaN}}'
    (tmp_path / "model").write_bytes(archive_of({"vicinal.json": text}))
    with pytest.raises(ModelFileError, match="NaN is no number in JSON"):
        describe(tmp_path / "model")


@pytest.mark.parametrize("odd", ["\x1b[2J\n", "\ud800", "x" * 5000])
def test_messages_can_be_shown_whatever_the_file_says(odd, tmp_path):
    def rename(schema, parts):
        schema["__class__"] = odd

    newer = archive_of({"vicinal.json": json.dumps({"format": 9, "vicinal": odd}).encode()})
    (tmp_path / "newer").write_bytes(newer)
    write(tmp_path / "odd", nca(), rename)
    for name in ("newer", "odd"):
        with pytest.raises(ModelFileError) as caught:
            vicinal.load(tmp_path / name)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 600


# ------------------------------------------------------------------------ what is no file, and good


def test_a_folder_in_place_of_a_file(tmp_path):
    for read in (describe, vicinal.load):
        with pytest.raises(IsADirectoryError, match=f"'{tmp_path}' is a folder: name a file in it"):
            read(tmp_path)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    # Root may read everything, so the answer of the system is made up.
    def forbidden(self, *args, **more):
        raise PermissionError(13, "Permission denied", str(self))

    path = tmp_path / "model.skops"
    path.touch()
    monkeypatch.setattr(type(path), "open", forbidden)
    for read in (describe, vicinal.load):
        with pytest.raises(PermissionError, match=f"^'{path}' may not be read"):
            read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_might_never_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        for read in (describe, vicinal.load):
            with pytest.raises(OSError, match="is not a regular file"):
                read(path)


def test_models_with_many_names(tmp_path):
    model = nca().fit(X, NAMES)
    names = [f"x{i}" for i in range(20_000)]
    model.feature_names_in_, model.n_features_in_ = np.array(names, dtype=object), len(names)
    model.components_ = np.ones((2, len(names)))
    vicinal.save(model, tmp_path / "model", metadata={"columns": names})
    assert_same(vicinal.load(tmp_path / "model"), model)


def test_arrays_of_zeros(tmp_path):
    """Packed as well as can be, and yet good."""
    model = nca(init=np.zeros((100, 10_000)))
    vicinal.save(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 20_000
    assert vicinal.load(tmp_path / "model").init.shape == (100, 10_000)


def test_the_same_objects_in_several_places(tmp_path):
    shared = np.random.RandomState(1)
    model = make_pipeline(local(random_state=shared), nca(random_state=shared, init=np.eye(2, 4)))
    model.set_params(localcomponents__regularization=model[1].init)
    vicinal.save(model, tmp_path / "model")
    again = vicinal.load(tmp_path / "model")
    assert again[0].random_state is again[1].random_state
    assert again[0].regularization is again[1].init


# ------------------------------------------------------------------------- what would not come back


def nested(levels):
    value = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (nested(199), "nested too deeply"),
        (nested(5000), "recursion"),
        ({"a": [0] * 1_000_000}, "values are too many"),
        ({"a": "x" * MOST_BYTES}, "bytes are too many for a header"),
    ],
    ids=["levels", "recursion", "values", "bytes"],
)
def test_metadata_that_could_not_be_read_again(metadata, message, tmp_path):
    with pytest.raises(TypeError, match=f"metadata must be what JSON can hold: .*{message}"):
        vicinal.save(nca(), tmp_path / "model", metadata=metadata)
    assert not list(tmp_path.iterdir())


def test_metadata_that_can(tmp_path):
    metadata = {**nested(190), "b": "x" * 2_000_000, "c": [0] * 300_000}
    vicinal.save(nca(), tmp_path / "model", metadata=metadata)
    assert describe(tmp_path / "model").metadata == metadata


def test_models_that_could_not_be_read_again(tmp_path):
    model = nca().fit(FRAME, NAMES)
    model.components_ = np.full((2, 4), np.nan)
    message = (
        r"this NeighborhoodComponents cannot be saved: components_ of its Neigh.* \(finite d D"
    )
    with pytest.raises(ValueError, match=message):
        vicinal.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
