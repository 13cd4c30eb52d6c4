"""What can be typed after ``vicinal``: a file for each command, and the table of all of them."""

from vicinal.cli.command import Command
from vicinal.cli.commands.compare import COMPARE
from vicinal.cli.commands.datasets import DATASETS
from vicinal.cli.commands.demo import DEMO
from vicinal.cli.commands.embed import EMBED
from vicinal.cli.commands.fit import FIT
from vicinal.cli.commands.info import INFO
from vicinal.cli.commands.predict import PREDICT
from vicinal.cli.commands.report import REPORT
from vicinal.cli.commands.score import SCORE
from vicinal.cli.commands.transform import TRANSFORM

__all__ = ["COMMANDS"]

# In the order of --help.
COMMANDS: tuple[Command, ...] = (
    DEMO,
    COMPARE,
    FIT,
    TRANSFORM,
    PREDICT,
    SCORE,
    INFO,
    EMBED,
    REPORT,
    DATASETS,
)
