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
    typer.Argument(metavar="DATA", parser=located, help="The table to read; - is standard input."),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that vicinal fit wrote.")
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        parser=located,
        help="Write the table to this file. By default, or with -, to standard output.",
        rich_help_panel=_FILES,
    ),
]
Format = Annotated[
    Kind | None,
    typer.Option(
        "--format",
        case_sensitive=False,
        help="The format of DATA. By default it is detected from the first bytes or the name.",
        rich_help_panel=_FILES,
    ),
]
To = Annotated[
    Kind | None,
    typer.Option(
        "--to",
        case_sensitive=False,
        help="The format to write. By default the name of FILE decides; standard output gets csv.",
        rich_help_panel=_FILES,
    ),
]
Defuse = Annotated[
    bool,
    typer.Option(
        "--defuse-formulas",
        help="Put ' before text that a spreadsheet would run as a formula, like =SUM(A1).",
        rich_help_panel=_FILES,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file has the names of the columns.",
        show_default=False,
        rich_help_panel=_FILES,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save the state of the fit to this file every few seconds, and resume from it: after "
        "a kill or Ctrl-C, the same command ends with the same model.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="The column with the classes."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar=_SEVERAL,
        help="Learn from these columns, by default from all but the target; may be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar=_SEVERAL,
        help="Do not learn from these columns; may be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
OneHot = Annotated[
    list[str] | None,
    typer.Option(
        "--one-hot",
        metavar=_SEVERAL,
        help="Turn these text columns, or 'all', into a 0/1 column for each category.",
        rich_help_panel=_COLUMNS,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out rows with missing values instead of refusing them.",
        rich_help_panel=_COLUMNS,
    ),
]
IgnoreUnknown = Annotated[
    bool,
    typer.Option(
        "--ignore-unknown",
        help="Treat categories that the model has not seen as none of those it knows, instead of "
        "refusing them.",
        rich_help_panel=_COLUMNS,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar=_SEVERAL,
        help="Copy these columns of DATA to the output, such as row identifiers; may be repeated.",
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
        help="Read DATA in parts, holding no more than this in memory, e.g. 2GB: for tables "
        "larger than memory.",
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
        help="Make random choices repeatable.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", help="The number of threads. By default all cores."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write the numbers to standard output as JSON.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no remarks.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback if something fails.")]
