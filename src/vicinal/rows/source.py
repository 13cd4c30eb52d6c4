"""The contract of whatever rows come from."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["RowSource", "naming_rows", "precision_of"]


class RowSource(ABC):
    """Rows of numbers that are read when they are needed, as often as they are.

    To add a kind, subclass it and add a value to `vicinal.rows.kinds.KINDS`. What is known to be
    wrong before any row is read is refused when the source is made.

    Attributes
    ----------
    name : str
        For messages: a file, or what the user has passed.
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        Of the chunks: float32 or float64.
    columns : tuple of str or None
        Their names, where they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from vicinal import open_rows
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "rows.npy"), np.eye(3))
    ...     rows = open_rows(Path(folder, "rows.npy"))
    ...     total = sum(chunk.sum() for chunk in rows.chunks())
    >>> rows.shape, float(total)
    ((3, 3), 3.0)
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype
    columns: tuple[str, ...] | None = None

    @abstractmethod
    def chunks(self) -> Iterator[NDArray]:
        """All rows in order, in parts as they lie there, shape (k, n_columns) each.

        Each time from the first row on. A chunk has to fit into memory.
        """

    @property
    def at_hand(self) -> NDArray | None:
        """All rows as an array any of which can be had at once (a memory map), or None."""
        return None

    @property
    def target(self) -> NDArray | None:
        """Labels that belong to the rows, shape (n,), where some were asked for."""
        return None

    @property
    def n_bytes(self) -> int:
        """Of all rows, once they are read."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray:
        raise TypeError(
            f"{self.name} is read in parts, and an array is expected here: read all of it by "
            "np.concatenate(list(rows.chunks())), where there is room."
        )

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"{type(self).__name__}({self.name}: {n} rows of {d} columns, {self.dtype})"


def precision_of(dtypes: Iterable[DTypeLike]) -> np.dtype:
    """Single precision where all columns have it, else double: as scikit-learn takes arrays."""
    single = all(np.dtype(dtype) == np.float32 for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


@contextmanager
def naming_rows(where: str) -> Iterator[None]:
    """Let an error tell which rows, or which file, could not be read."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise OSError(f"{where} cannot be read: {type(error).__name__}: {error}") from error
