"""What drawing needs: matplotlib, and a file to save the picture to."""

from importlib import import_module
from pathlib import Path
from typing import Any

from vicinal.files import check_target, whole_file

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
    check_target(path, "the picture")


def save_figure(figure: Any, path: Path, *, dpi: float = 150) -> None:
    """Save a figure so that `path` holds the whole picture or what it held before.

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
    with whole_file(path) as stream:
        figure.savefig(stream, format=path.suffix.lower().removeprefix("."), dpi=dpi)
