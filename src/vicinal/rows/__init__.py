"""Where rows come from: files, chunks of arrays, tables of columns; larger than memory if need be.

One contract (`source.RowSource`), one value per kind (`kinds.KINDS`), and around public methods of
estimators what makes use of both (`methods`):

    memory maps, pyarrow, zarr, dask, files and URLs (opening)
        → RowSource: shape, dtype, columns, chunks()
        → blocks: the same rows in every block, whatever the chunks, read ahead
            → fit, partial_fit: settled once, in memory or in a scratch file (settling)
            → transform, predict, ...: answered block by block

What a method may take in memory is `memory_limit` (memory).
"""

from vicinal.rows.opening import open_rows
from vicinal.rows.source import RowSource

__all__ = ["RowSource", "open_rows"]
