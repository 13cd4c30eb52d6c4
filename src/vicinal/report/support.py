"""What drawing needs: matplotlib, and a file that is either whole or not there."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["check_picture_path", "require_matplotlib", "save_figure"]


def require_matplotlib(what: str) -> None:
    """Raise an ImportError that tells how to install matplotlib, if it is missing.

    Parameters
    ----------
    what : str
        What needs it, for the message.
    """
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install 'vicinal[report]'") from error


def check_picture_path(path: Path) -> None:
    """Raise an OSError or ValueError where a picture could not be saved at `path`.

    Meant to be called before the work whose result is to be saved.

    Parameters
    ----------
    path : Path
    """
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"'{path}' does not end in a picture format: use .png, .pdf or .svg")
    # Replacing a device or a pipe by a file would do harm (root and /dev/null).
    if path.exists() and not path.is_file():
        raise OSError(f"'{path}' is not a regular file: name a file to write the picture to")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder '{path.parent}' does not exist: create it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder '{path.parent}' is not writable: choose another one")


def save_figure(figure: Any, path: Path, *, dpi: float = 150) -> None:
    """Save a figure so that `path` holds the whole picture or what it held before.

    The picture goes to a hidden file beside `path` first, which then takes its
    place. Nothing is left of it after an error or an interrupt.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : Path
        Its suffix tells the format.
    dpi : float, default=150

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report.support import save_figure
    >>> with TemporaryDirectory() as folder:
    ...     save_figure(Figure(), Path(folder, "empty.png"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['empty.png']
    """
    check_picture_path(path)
    target = Path(os.path.realpath(path))  # through a link, to the file it names
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        # Not by tempfile, whose files nobody else may read.
        with draft.open("wb") as stream:
            figure.savefig(stream, format=target.suffix.lower().removeprefix("."), dpi=dpi)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
