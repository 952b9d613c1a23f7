"""Candidates for links by sliding windows (Ture, Elsayed and Lin 2011): signatures, a radius, windows, true cosines.

The result is that of `cognate link --method window`: pairs of signatures within the radius that meet in a window get
their cosines, and the nearest of each row are its neighbours. Vectors are sent to the cells that have a pair with
them.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import batch, link_batch
from . import _tables, signatures
from ._arrow import Array, batch_of, lists, map_batches, map_partitions, numbers
from ._hits import hits_of_pairs
from ._rows import signature_column, signatures_in
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

#: The cosine of likely partners, and the share of them, that settings which are not given are planned for.
_THRESHOLD, _RECALL = 0.35, 0.99
KNOBS = ("tables", "window", "shared_window")


class Found(NamedTuple):
    """Candidates: a, b (rows of the two sides), distance."""
    pairs: Stage
    beyond: float  #: the cosine that neighbours which are not found are taken to have


def find(stages: Stages, vectors: Stage, rows: tuple[int, int], options: dict[str, Any], partitions: int) -> Found:
    """The pairs of rows that are proposed."""
    bits = int(options.get("bits", 1024))
    signed = stages.table("link-signatures", lambda: map_batches(vectors.table, _sign, signatures.SIGNED, bits), [vectors],
                          bits=bits)
    radius = _radius(stages, signed, bits, options)
    knobs = {name: int(options[name]) for name in KNOBS if name in options}
    plan = batch.plan_join(*rows, method="window", threshold=_THRESHOLD, recall=_RECALL, bits=bits, knobs=knobs)
    settings = signatures.Settings(plan._replace(radius=radius.bits), bits, 0, {}, True)
    stages.note(tables=plan.tables, window_rows=plan.window, radius_bits=radius.bits)
    pairs = signatures.find_candidates(stages, signed, sum(rows), settings, partitions=partitions,
                                       block_rows=_tables.BLOCK_ROWS)
    stages.note(candidates=pairs.rows)
    return Found(pairs, radius.beyond)


def _sign(rows: pyarrow.RecordBatch, bits: int) -> Any:
    made = link_batch.sign(lists(rows, "vector"), method="window", bits=bits)
    nothing = signature_column(np.zeros((len(made), 0), np.uint8))
    return batch_of(side=rows.column("side"), row=rows.column("row"), signature=signature_column(made),
                    margins=nothing)


def _radius(stages: Stages, signed: Stage, bits: int, options: dict[str, Any]) -> link_batch.Radius:
    """Chooses the radius from the distances of some rows of the first side to all rows of the second."""
    from pyspark.sql import functions as f
    own = signed.table.filter("side = 0")
    asked = sampled_rows(own)
    sample = signatures_in(own.filter(f.col("row").isin(asked)).orderBy("row").select("signature").toArrow())

    def make() -> Any:
        counts = map_partitions(signed.table.filter("side = 1").select("signature"), _distances, "counts binary", sample)
        return map_partitions(counts.repartition(1), summed, "counts binary")
    stage = stages.table("link-distances", make, [signed])
    found = stage.table.head()
    counts = np.frombuffer(bytes(found["counts"]), np.uint64) if found else np.zeros(len(asked) * (bits + 1), np.uint64)
    rule = {name: value for name, value in options.items() if name not in KNOBS}
    return link_batch.radius(counts.reshape(len(asked), bits + 1), **rule)


def sampled_rows(frame: Any) -> list[int]:
    """The rows of the first side by which a method is planned."""
    known = np.sort(frame.select("row").toArrow()["row"].to_numpy())
    asked: list[int] = known[link_batch.radius_rows(len(known))].tolist()
    return asked


def _distances(batches: Iterator[pyarrow.RecordBatch], sample: Array) -> Iterator[pyarrow.RecordBatch]:
    """How many rows have each distance to each of the sample."""
    bits = sample.shape[1] * 8
    counts = np.zeros((len(sample), bits + 1), np.uint64)
    for rows in batches:
        own = np.ascontiguousarray(signatures_in(rows))
        for number, query in enumerate(sample):
            distance = np.bitwise_count(own ^ query).sum(1, dtype=np.int64)
            counts[number] += np.bincount(distance, minlength=bits + 1).astype(np.uint64)
    yield batch_of(counts=[counts.tobytes()])


def summed(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Adds up arrays of uint64."""
    total = None
    for rows in batches:
        for value in rows.column("counts"):
            own = np.frombuffer(value.as_buffer(), np.uint64)
            total = own.copy() if total is None else total + own
    if total is not None:
        yield batch_of(counts=[total.tobytes()])


def cosines(vectors: Stage, found: Stage, schema: str, partitions: int) -> Any:
    """The cosines of the pairs, for both of their rows: side, row, hits."""
    frames = [vectors.table.filter(f"side = {side}").select("row", "vector") for side in (0, 1)]
    together = signatures.in_cells(found.table, frames, {"vector": "binary"}, partitions)
    return map_partitions(together, _cosines, schema)


def _cosines(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for cell in signatures.cells_of(batches, 1):
        entries = lists(cell.rows, "vector")
        similarity = link_batch.cosines(entries, entries, *cell.places)
        rows = numbers(cell.rows, "row")
        yield from hits_of_pairs(rows[cell.places[0]], rows[cell.places[1]], similarity)
