import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.cli.running import WrongUsage
from vicinal.cli.settings import merge, parse_setting, parse_value
from vicinal.local_components import LocalComponents
from vicinal.nca import NeighborhoodComponents


@given(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.lists(st.integers() | st.floats(allow_nan=False))
)
def test_json_is_read_as_json(value):
    assert parse_value(json.dumps(value)) == value


@given(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_prints_is_read_back(value):
    again = parse_value(str(value))
    assert (type(again), again) == (type(value), value)


@given(st.text())
def test_anything_can_be_parsed(text):
    parse_value(text)


@given(st.from_regex(r"\A[a-z_]+\Z"), st.text())
def test_everything_after_the_first_sign_is_the_value(name, value):
    assert parse_setting(f"{name}={value}")[0] == name


def test_words_stay_words():
    assert parse_value("lbfgs") == "lbfgs"
    assert parse_value("em-endpoints") == "em-endpoints"
    assert parse_value("[1, 2") == "[1, 2"
    assert math.isnan(parse_value("NaN"))
    assert parse_setting("a=b=c") == ("a", "b=c")
    assert parse_setting("a=") == ("a", "")


@pytest.mark.parametrize("text", ["max_iter", "=3", "", " =3"])
def test_settings_without_a_name(text):
    with pytest.raises(WrongUsage, match="name=value"):
        parse_setting(text)


def test_options_and_settings_together():
    direct = {"n_components": ("--components", 2), "random_state": ("--seed", None)}
    parameters = merge(NeighborhoodComponents, "nca", ["tol=1e-3", "random_state=1"], direct)
    assert parameters == {"n_components": 2, "tol": 1e-3, "random_state": 1}


@pytest.mark.parametrize(
    ("model", "settings", "direct", "said"),
    [
        (NeighborhoodComponents, ["max_itr=3"], {}, "Did you mean 'max_iter'.*It has n_components"),
        (NeighborhoodComponents, ["verbose=1"], {}, "no such parameter"),
        (NeighborhoodComponents, ["tol=1", "tol=2"], {}, "--set has set it already"),
        (
            NeighborhoodComponents,
            ["n_components=3"],
            {"n_components": ("--components", 2)},
            "--components has set it already",
        ),
        (LocalComponents, [], {"n_components": ("--components", 2)}, "--components has no meaning"),
    ],
)
def test_settings_that_cannot_be_meant(model, settings, direct, said):
    with pytest.raises(WrongUsage, match=said):
        merge(model, "it", settings, direct)
