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
    typer.Argument(metavar="DATA", parser=located, help="Read this table; - is standard input."),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Use this model file, which vicinal fit wrote.")
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        parser=located,
        help="Write the table to this file; without it, or with -, to standard output.",
        rich_help_panel=_FILES,
    ),
]
Format = Annotated[
    Kind | None,
    typer.Option(
        "--format",
        case_sensitive=False,
        help="Say what DATA is. By default its first bytes or its name tell.",
        rich_help_panel=_FILES,
    ),
]
To = Annotated[
    Kind | None,
    typer.Option(
        "--to",
        case_sensitive=False,
        help="Say what to write. By default the name of FILE tells; standard output gets csv.",
        rich_help_panel=_FILES,
    ),
]
Defuse = Annotated[
    bool,
    typer.Option(
        "--defuse-formulas",
        help="Put ' before words that a spreadsheet would run, as =SUM(A1).",
        rich_help_panel=_FILES,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Say whether the first line of a text holds names of columns.",
        show_default=False,
        rich_help_panel=_FILES,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write what the fit has found so far to this file every few seconds, and go on from "
        "there: the same command after a kill or Ctrl-C ends with the same model.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Name the column of classes."),
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
        help="Turn these columns of words, or 'all', into a 0/1 column for each category.",
        rich_help_panel=_COLUMNS,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out rows with missing values, instead of an error.",
        rich_help_panel=_COLUMNS,
    ),
]
IgnoreUnknown = Annotated[
    bool,
    typer.Option(
        "--ignore-unknown",
        help="Let categories that the model has not seen count as none, instead of an error.",
        rich_help_panel=_COLUMNS,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar=_SEVERAL,
        help="Pass on these columns of DATA, as an identifier of the rows; may be repeated.",
        rich_help_panel=_COLUMNS,
    ),
]
KeepAll = Annotated[
    bool,
    typer.Option("--keep-all", help="Pass on all columns of DATA.", rich_help_panel=_COLUMNS),
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
        help="Read DATA in parts, and hold no more than this of it, e.g. 2GB: for tables larger "
        "than memory.",
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
        help="Make what is drawn at random repeatable.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", metavar="N", help="Use so many threads, by default all cores."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Write the numbers to standard output as JSON.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress, and make no remarks.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback where something fails.")]
