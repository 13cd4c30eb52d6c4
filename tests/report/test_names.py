import pytest

from vicinal.report.names import plain_text, shortened


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("עברית 😀 日本語", "עברית 😀 日本語"),
        ("\u202ereversed", "�reversed"),
        ("half \ud800", "half �"),
        ("\x00\x1b[31m", "��[31m"),
        ("two\nlines", "two\nlines"),
        ("", '""'),
        ("\x1f", '"�"'),
        (None, "None"),
        (2**70, "1180591620717411303424"),
        (b"caf\xc3\xa9 \xff", "café �"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_such(name, shown):
    assert plain_text(name) == shown


def test_short_names_are_in_one_line():
    assert shortened("two\n lines") == "two lines"
    assert shortened("x" * 500, 30) == "x" * 29 + "…"
