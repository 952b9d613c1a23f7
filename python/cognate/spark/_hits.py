"""Hits: the nearest rows of the other side. They travel as bytes, those of a row together: Spark moves bytes many times
as fast as rows of numbers."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .. import link_batch
from ._arrow import Array, batch_of, numbers, run_starts, runs

if TYPE_CHECKING:
    import pyarrow

HIT = np.dtype([("similarity", "<f8"), ("row", "<i8"), ("distance", "<i4")])
FOUND = "side int, row long, hits binary"


def packed_hits(side: int, rows: Array, query: Array, hits: Array) -> pyarrow.RecordBatch:
    """A row for each query that has hits. Hits come by query, which are places in ``rows``."""
    import pyarrow
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    ends = np.append(starts, len(hits)).astype(np.int64) * hits.dtype.itemsize
    data = pyarrow.Array.from_buffers(pyarrow.large_binary(), len(starts), [None, pyarrow.py_buffer(ends),
                                                                            pyarrow.py_buffer(hits.tobytes())])
    return batch_of(side=np.full(len(starts), side, np.int32), row=rows[query[starts]],
                    hits=data if ends[-1] >= 1 << 31 else data.cast(pyarrow.binary()))


def unpacked_hits(table: pyarrow.Table, kind: np.dtype[np.void] = HIT) -> tuple[Array, Array]:
    """The hits of all rows, and how many each row has."""
    import pyarrow
    column = table["hits"].combine_chunks().cast(pyarrow.large_binary())
    if isinstance(column, pyarrow.ChunkedArray):
        column = pyarrow.concat_arrays(column.chunks)
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int64)[column.offset:column.offset + len(column) + 1]
    hits = np.frombuffer(data, np.uint8)[int(ends[0]):int(ends[-1])].view(kind)
    return hits, np.diff(ends) // kind.itemsize


def hits_of_pairs(a: Array, b: Array, similarity: Array) -> Iterator[pyarrow.RecordBatch]:
    """The hits of both rows of each pair: row a of side 0, row b of side 1."""
    for side, (own, other) in enumerate(((a, b), (b, a))):
        order = np.lexsort((other, own))
        hits = np.empty(len(order), HIT)
        hits["row"], hits["similarity"], hits["distance"] = other[order], similarity[order], 0
        rows, query = np.unique(own[order], return_inverse=True)
        if len(hits):
            yield packed_hits(side, rows, query, hits)


def best_hits(batches: Iterator[pyarrow.RecordBatch], plan: link_batch.Plan) -> Iterator[pyarrow.RecordBatch]:
    """The first hits of each row among those of all cells."""
    for table in runs(batches, ["side", "row"], rows=20_000):
        hits, lengths = unpacked_hits(table)
        starts = run_starts(table, ["side", "row"])
        run = np.repeat(np.repeat(np.arange(len(starts)), np.diff([*starts, table.num_rows])), lengths)
        side, row = numbers(table, "side")[starts], numbers(table, "row")[starts]
        for number in (0, 1):
            own = np.flatnonzero((side == number)[run])
            chosen, group = _first(hits[own], run[own], plan.neighbours[number], plan.proposals[number])
            if len(chosen):
                yield packed_hits(number, row, group, chosen)


def _first(hits: Array, group: Array, most: int, proposals: int) -> tuple[Array, Array]:
    if proposals:
        order = np.lexsort((hits["row"], hits["distance"], group))
        hits, group = _cut(hits[order], group[order], proposals)
        above = hits["similarity"] > 0
        hits, group = hits[above], group[above]
    order = np.lexsort((hits["row"], -hits["similarity"], group))
    return _cut(hits[order], group[order], most)


def _cut(hits: Array, group: Array, most: int) -> tuple[Array, Array]:
    """The first rows of each group, up to a number; rows of a group are adjacent."""
    kept = np.arange(len(group)) - np.searchsorted(group, group) < most
    return hits[kept], group[kept]
