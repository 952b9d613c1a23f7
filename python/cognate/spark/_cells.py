"""Cells of two sides: each block of one side with each block of the other."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrow import Array, numbers, run_starts, runs
from ._tables import block_of

if TYPE_CHECKING:
    import pyarrow

#: Bytes of the vectors of a block: every block of one side meets every block of the other, so that a vector travels as
#: often as the other side has blocks. One machine reads blocks of this size.
BLOCK_BYTES = 64 << 20


def place(rows: pyarrow.RecordBatch, blocks: tuple[int, int], starts: Array | None = None) -> Any:
    """Assigns each row to its cells: its block with every block of the other side. ``starts``: the first rows of the
    blocks of side 1; without it rows spread."""
    import pyarrow
    side, row = numbers(rows, "side"), numbers(rows, "row")
    own = block_of(row, np.where(side == 0, blocks[0], blocks[1]))
    if starts is not None:
        own = np.where(side == 0, own, np.searchsorted(starts, row, "right") - 1)
    count = np.where(side == 0, blocks[1], blocks[0])
    places = np.repeat(np.arange(len(row)), count)
    other = np.arange(len(places)) - np.repeat(np.cumsum(count) - count, count)
    cell = np.where(side[places] == 0, own[places] * blocks[1] + other, other * blocks[1] + own[places])
    taken = rows.take(pyarrow.array(places))
    return taken.add_column(0, "cell", pyarrow.array(cell.astype(np.int32)))


def tables_of_cells(batches: Iterator[pyarrow.RecordBatch], key: str) -> Iterator[pyarrow.Table]:
    """The rows of each cell, which are adjacent."""
    for table in runs(batches, [key], rows=1):
        starts = run_starts(table, [key])
        for begin, end in zip(starts, [*starts[1:], table.num_rows], strict=True):
            yield table.slice(int(begin), int(end - begin))
