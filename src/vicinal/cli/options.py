"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.locations import located

__all__ = [
    "AsJson",
    "Checkpoint",
    "Columns",
    "Data",
    "Debug",
    "Defuse",
    "Drop",
    "DropMissing",
    "Format",
    "Header",
    "IgnoreUnknown",
    "Jobs",
    "Keep",
    "KeepAll",
    "MemoryLimit",
    "ModelFile",
    "OneHot",
    "Output",
    "Quiet",
    "Seed",
    "Settings",
    "Target",
    "To",
]

_COLUMNS = "Columns"
_FILES = "Files"
_SEVERAL = "COL,..."

Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", parser=located, help="Table to read; - is standard input."),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file, written by vicinal fit.")
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        parser=located,
        help="Write the table to this file; by default, or with -, to standard output.",
        rich_help_panel=_FILES,
    ),
]
Format = Annotated[
    Kind | None,
    typer.Option(
        "--format",
        case_sensitive=False,
        help="Format of DATA; by default detected from its first bytes or its name.",
        rich_help_panel=_FILES,
    ),
]
To = Annotated[
    Kind | None,
    typer.Option(
        "--to",
        case_sensitive=False,
        help="Format to write; by default that of the name of FILE, or csv on standard output.",
        rich_help_panel=_FILES,
    ),
]
Defuse = Annotated[
    bool,
    typer.Option(
        "--defuse-formulas",
        help="Put ' before text that a spreadsheet would run as a formula, such as =SUM(A1).",
        rich_help_panel=_FILES,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file holds column names.",
        show_default=False,
        rich_help_panel=_FILES,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save the progress of the fit to this file every few seconds. After a kill or Ctrl-C, "
        "the same command resumes the fit and ends with the same model.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Column that holds the class labels."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar=_SEVERAL,
        help="Columns to use as features; by default all but the target. May be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar=_SEVERAL,
        help="Columns not to use as features; may be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
OneHot = Annotated[
    list[str] | None,
    typer.Option(
        "--one-hot",
        metavar=_SEVERAL,
        help="Text columns, or 'all', to one-hot encode: a 0/1 column for each category.",
        rich_help_panel=_COLUMNS,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Drop rows with missing values, instead of stopping with an error.",
        rich_help_panel=_COLUMNS,
    ),
]
IgnoreUnknown = Annotated[
    bool,
    typer.Option(
        "--ignore-unknown",
        help="Encode categories unknown to the model as all zeros, instead of stopping with an "
        "error.",
        rich_help_panel=_COLUMNS,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar=_SEVERAL,
        help="Columns of DATA to copy to the output, such as an identifier; may be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
KeepAll = Annotated[
    bool,
    typer.Option(
        "--keep-all", help="Copy all columns of DATA to the output.", rich_help_panel=_COLUMNS
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set any parameter of the estimator; may be repeated.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="SIZE",
        help="Read DATA in parts, and keep at most this much of it in memory, e.g. 2GB; for "
        "tables larger than memory.",
        rich_help_panel=_FILES,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        max=2**32 - 1,
        help="Random seed, for reproducible results.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", help="Number of threads; by default all cores."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write the results to standard output as JSON.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no remarks.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of errors.")]
