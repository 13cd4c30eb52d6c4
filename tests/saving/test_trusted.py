"""Files made by somebody who means harm, or who means well with other classes."""

import functools
import importlib
import io
import json
import operator
import os
from zipfile import ZipFile

import pytest
from saving.cases import fitted
from sklearn.base import BaseEstimator
from sklearn.preprocessing import FunctionTransformer

import vicinal
from vicinal.files import whole_file
from vicinal.saving import ModelFileError
from vicinal.saving.archive import sealed
from vicinal.saving.header import ModelHeader
from vicinal.saving.trusted import LOADERS, TRUSTED

skops = pytest.importorskip("skops.io")

RAN = []


class Foreign(BaseEstimator):
    """Leaves a trace if anything of it runs."""

    def __new__(cls):
        RAN.append("new")
        return super().__new__(cls)

    def __setstate__(self, state):
        RAN.append("setstate")


def write(archive, path):
    """What an attacker can do: a good checksum is no secret."""
    path.write_bytes(sealed(archive, ModelHeader.of(fitted("nca"), {})))
    return path


def edited(archive, change):
    """The archive with a changed schema."""
    with ZipFile(io.BytesIO(archive)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    schema = json.loads(parts["schema.json"])
    change(schema)
    stream = io.BytesIO()
    with ZipFile(stream, "w") as target:
        for name, content in {**parts, "schema.json": json.dumps(schema)}.items():
            target.writestr(name, content)
    return stream.getvalue()


def test_a_foreign_class_is_named_and_not_run(tmp_path):
    path = write(skops.dumps(Foreign()), tmp_path / "model")
    RAN.clear()
    message = r"contains .*test_trusted\.Foreign: vicinal refuses to load it, as it does not know"
    with pytest.raises(ModelFileError, match=message):
        vicinal.load(path)
    assert not RAN
    with pytest.raises(TypeError, match=r"this Foreign cannot be saved: it contains .*\.Foreign"):
        vicinal.save(Foreign(), path)


@pytest.mark.parametrize(
    "function",
    [
        os.system,
        eval,
        importlib.import_module,
        whole_file,  # ours, but none that a model needs
        functools.partial(os.system, "true"),
        operator.methodcaller("format", 1),
        operator.attrgetter("__class__"),
        fitted("nca").fit,
        Foreign().get_params,
    ],
    ids=lambda function: type(function).__name__,
)
def test_functions_are_refused(function, tmp_path):
    archive = skops.dumps(FunctionTransformer(function))
    with pytest.raises(ModelFileError, match="refuses to load"):
        vicinal.load(write(archive, tmp_path / "model"))


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("vicinal.files", "whole_file"), ("vicinal.nca.recipe", "Recipe")],
)
@pytest.mark.parametrize(
    "loader", [*LOADERS, "ConstructorFromReduceNode", "MethodNode", "TreeNode"]
)
def test_another_name_in_place_of_a_class(module, name, loader, tmp_path):
    def rename(schema):
        schema["content"]["content"]["init"] = {
            **schema["content"]["content"]["init"],
            "__module__": module,
            "__class__": name,
            "__loader__": loader,
            "__id__": 1,
            "content": schema["content"]["content"]["init"],
        }

    path = write(edited(skops.dumps(fitted("nca unfitted")), rename), tmp_path / "model")
    if loader == "JsonNode":  # text, whatever it is called
        with pytest.raises(ModelFileError, match="cannot be read"):
            vicinal.load(path)
        return
    with pytest.raises(ModelFileError):
        vicinal.load(path)


def test_operators_are_refused_whatever_skops_makes_of_them(tmp_path):
    """A trusted name does not help a loader that calls: skops before 0.12 was open to that."""

    def call(schema):
        schema["content"]["content"]["engine"] = {
            "__module__": "operator",
            "__class__": TRUSTED[0],
            "__loader__": "OperatorFuncNode",
            "attrs": schema["content"]["content"]["engine"],
        }

    path = write(edited(skops.dumps(fitted("nca unfitted")), call), tmp_path / "model")
    with pytest.raises(ModelFileError, match=f"contains operator.{TRUSTED[0]}: vicinal refuses"):
        vicinal.load(path)


def test_only_the_usual_random_generator(tmp_path):
    """skops before 0.16 calls any function of numpy.random that the file names."""
    archive = skops.dumps(fitted("local stream"))
    assert skops.loads(archive, trusted=list(TRUSTED))._stream.rng is not None

    def seed(schema):
        stream = schema["content"]["content"]["_stream"]["content"]["content"]
        state = stream["rng"]["content"]["bit_generator"]["content"]
        assert state["bit_generator"]["content"] == '"PCG64"'
        state["bit_generator"]["content"] = '"seed"'

    path = write(edited(archive, seed), tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"Generator: vicinal refuses"):
        vicinal.load(path)


def test_a_class_that_another_version_knows(tmp_path, monkeypatch):
    def rename(schema):
        schema["__class__"] = "Successor"

    monkeypatch.setattr(vicinal, "__version__", "0.0.1")
    path = write(edited(skops.dumps(fitted("nca")), rename), tmp_path / "model")
    monkeypatch.undo()
    message = (
        rf"nca.estimator.Successor: .* \(saved by vicinal 0\.0\.1, this is {vicinal.__version__}\)"
    )
    with pytest.raises(ModelFileError, match=message):
        vicinal.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: schema.pop("__class__"),
        lambda schema: schema["content"]["content"]["init"].update(file="none.npy"),
        lambda schema: schema["content"]["content"]["init"].update(__loader__="ListNode"),
    ],
)
def test_nonsense_is_one_clear_error(change, tmp_path):
    path = write(edited(skops.dumps(fitted("nca unfitted")), change), tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"cannot be read|refuses"):
        vicinal.load(path)


def test_trusted_classes_are_where_the_list_says():
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), kind), type)
