import json
import zipfile

import pytest
from cli.helpers import done, refused

import vicinal
from vicinal.saving import describe


def test_facts_for_people(garden):
    out = done("info", garden / "nca.skops").stdout
    header = describe(garden / "nca.skops")
    joined = "".join(line[20:].strip() for line in out.splitlines())
    for words in (
        "StandardScaler, NeighborhoodComponents",
        "n_components=2, random_state=0",
        "'aster', 'rose', 'tulip'",
        "60 rows of train.csv",
        f"vicinal {vicinal.__version__}",
        header.checksum,
    ):
        assert words in joined
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("family", ["nca", "local", "coincidence"])
def test_facts_for_machines(garden, family):
    facts = json.loads(done("info", garden / f"{family}.skops", "--json").stdout)
    header = describe(garden / f"{family}.skops")
    model = vicinal.load(garden / f"{family}.skops")
    estimator = getattr(model, "steps", [(None, model)])[-1][1]
    assert facts["checksum"] == header.checksum
    assert facts["metadata"] == header.metadata
    assert facts["parameters"] == estimator.get_params()
    assert facts["fitted"]["n_iter"] == estimator.n_iter_
    assert facts["n_features"] == 3


def test_a_model_from_python():
    vicinal.save(vicinal.LocalComponents(gaussian="em"), "bare.skops")
    out = done("info", "bare.skops").stdout
    assert "gaussian='em'" in out
    assert "Fitted" in out


def test_markup_in_names_is_text(garden):
    vicinal.save(
        vicinal.load(garden / "nca.skops"), "m.skops", metadata={"columns": ["[red]a", "b", "[/]"]}
    )
    assert "'[red]a', 'b', '[/]'" in done("info", "m.skops").stdout


def test_other_files(garden, tmp_path):
    refused("there is no model file", args=["info", "no.skops"])
    (tmp_path / "junk.skops").write_bytes(b"junk")
    refused("not a vicinal model file", args=["info", "junk.skops"])
    newer = tmp_path / "newer.skops"
    with zipfile.ZipFile(garden / "nca.skops") as old, zipfile.ZipFile(newer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "vicinal.json":
                content = json.dumps(json.loads(content) | {"format": 99}).encode()
            new.writestr(name, content)
    for command in (["info"], ["transform"]):
        args = [*command, newer, *([garden / "test.csv"] if command == ["transform"] else [])]
        refused("format 99", "upgrade vicinal", args=args)
