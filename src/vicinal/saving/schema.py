"""What skops will be told to build: looked through before it builds anything."""

from typing import Any
from zipfile import ZipFile

from vicinal.archives import check_array
from vicinal.saving.text import parsed, read_text
from vicinal.saving.trusted import nodes_of

__all__ = ["check_members", "read_schema"]

# Those of a model with half a million named features: each name is an object of some 200 bytes.
_MOST_BYTES, _MOST_VALUES = 2**27, 4_000_000

# Objects other than numbers and texts. skops keeps a list of all it trusts for every one.
_MOST_OBJECTS = 20_000
_HEAVY = ("FunctionNode", "ObjectNode")


def read_schema(archive: ZipFile) -> Any:
    """The schema of an archive, if following it takes no more than the archive itself."""
    schema = parsed(read_text(archive, "schema.json", _MOST_BYTES), _MOST_VALUES)
    _count(schema, {})
    n_objects = sum(node["__loader__"] in _HEAVY for node in nodes_of(schema))
    if n_objects > _MOST_OBJECTS:
        raise ValueError(f"{n_objects} objects are too many, at most {_MOST_OBJECTS}")
    _arrays(schema)
    return schema


def check_members(archive: ZipFile, schema: Any) -> None:
    """Refuse arrays that claim to be larger than they are."""
    for name in _arrays(schema):
        check_array(archive, name)


def _count(part: Any, known: dict[Any, int]) -> int:
    """Number of nodes in a part of the schema, in which an id stands for one object.

    skops visits an object anew wherever its id stands. So an object that is referred to twice is
    written twice; short references would make a few lines visit each other forever.
    """
    if isinstance(part, list):
        return sum(_count(each, known) for each in part)
    if not isinstance(part, dict):
        return 0
    size = 1 + sum(_count(each, known) for each in part.values())
    name = part.get("__id__")
    if isinstance(name, int | float | str) and known.setdefault(name, size) != size:
        raise ValueError("two different objects have the same id")
    return size


def _arrays(schema: Any) -> list[str]:
    """Members that are arrays, each of which skops is told to read once."""
    owners: dict[str, Any] = {}
    for node in nodes_of(schema):
        if node["__loader__"] != "NdArrayNode" or node.get("type") != "numpy":
            continue  # those of objects stand in the schema itself
        name, owner = str(node["file"]), node.get("__id__")
        if not owner or owners.setdefault(name, owner) != owner:
            raise ValueError(f"{name} would be read again and again")
    return list(owners)
