"""Candidates for links by posting lists, those of `cognate link --method lists`.

Rows of the target side are cut into the blocks of one machine, and a budget of products is chosen by the true neighbours
of a sample. A block and a part of the source rows meet in a cell, which lists the proposals of the block with their
cosines. Of a row's proposals those are kept that come near the sums of its earlier blocks.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import link_batch
from ._arrow import Array, batch_of, lists, map_batches, map_partitions, numbers, runs
from ._cells import BLOCK_BYTES, place, tables_of_cells
from ._hits import FOUND, HIT, hits_of_pairs, packed_hits, unpacked_hits
from ._link_windows import sampled_rows, summed
from ._stages import Stage, Stages
from ._tables import blocks_of

if TYPE_CHECKING:
    import pyarrow

#: The sum of products decides which proposals are kept.
_PROPOSED = np.dtype([("similarity", "<f8"), ("row", "<i8"), ("sum", "<f4")])
#: A part of the source rows has at least this share of the bytes of a block, whose lists every part makes again.
_LEAST_PART = 1 / 16


class Sample(NamedTuple):
    """The sampled source rows, and what is known of the target rows; it travels to the executors."""
    vectors: link_batch.Lists
    target: link_batch.TargetRows
    starts: Array  #: the first row of each block
    places: Array  #: how many target rows are before each block


def find(stages: Stages, vectors: Stage, rows: tuple[int, int], options: dict[str, Any], partitions: int,
         block_rows: int | None) -> tuple[Stage, float]:
    """The pairs of rows that are proposed, as hits of both sides; and the cosine that neighbours which are not found are
    taken to have."""
    sample = _sample(stages, vectors)
    products = _products(stages, vectors, sample, options)
    blocks = _parts(vectors, rows[0], sample.target.blocks, partitions, block_rows), sample.target.blocks

    def make() -> Any:
        cells = map_batches(vectors.table.drop("length"), place, "cell int, side int, row long, vector binary", blocks,
                            sample.starts)
        together = cells.repartition(min(partitions, blocks[0] * blocks[1]), "cell").sortWithinPartitions(
            "cell", "side", "row")
        found = map_partitions(together, _propose, FOUND + ", block int", sample.target, products.most, options)
        if blocks[1] > 1:
            found = found.repartition(partitions, "row").sortWithinPartitions("row", "block")
        return map_partitions(found, _keep, FOUND, sample.target, products.beyond, options)
    measures = {"candidates": f"sum(if(side = 0, octet_length(hits) div {HIT.itemsize}, 0))"}
    stage = stages.table("link-proposals", make, [vectors], measures, blocks=list(blocks), **options)
    stages.note(candidates=int(stage.facts["candidates"] or 0), cells=blocks[0] * blocks[1],
                **({} if math.isinf(products.most) else {"list_products": products.most}))
    return stage, products.beyond


def _parts(vectors: Stage, rows: int, blocks: int, partitions: int, block_rows: int | None) -> int:
    """Parts of the source rows: as few as memory allows, but a cell per partition if parts are not too small for that."""
    if block_rows is not None:
        return blocks_of(rows, block_rows)
    size, block = (max(1, int(vectors.facts[f"bytes_{side}"])) for side in (0, 1))
    most = int(size * blocks / (block * _LEAST_PART))
    return max(1, min(rows, max(-(-size // BLOCK_BYTES), min(-(-partitions // blocks), most))))


# ---- The target side and the sample ----------------------------------------------------------------------------------

def _sample(stages: Stages, vectors: Stage) -> Sample:
    from pyspark.sql import functions as f
    target = vectors.table.filter("side = 1")
    sizes = target.selectExpr("row", "octet_length(vector) div 8 as size")
    blocks = stages.table("link-blocks", lambda: map_partitions(
        sizes.repartition(1).sortWithinPartitions("row"), _starts, "row long, place long"), [vectors])
    starts = blocks.table.orderBy("row").toArrow()
    counts = stages.table("link-frequencies", lambda: map_partitions(
        target.select("vector"), _count, "column long, rows long").groupBy("column").agg(f.sum("rows").alias("rows")),
        [vectors]).table.toArrow()
    columns = numbers(counts, "column")
    frequencies = np.zeros(int(columns.max()) + 1 if len(columns) else 0, np.uint32)
    frequencies[columns] = numbers(counts, "rows")
    source = vectors.table.filter("side = 0")
    sampled = source.filter(f.col("row").isin(sampled_rows(source))).orderBy("row").select("vector").toArrow()
    return Sample(lists(sampled, "vector"), link_batch.TargetRows(frequencies, max(1, starts.num_rows)),
                  numbers(starts, "row"), numbers(starts, "place"))


def _starts(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """The rows come in order; they may have gaps."""
    held = [(numbers(rows, "row"), numbers(rows, "size")) for rows in batches]
    if held:
        row, size = (np.concatenate(parts) for parts in zip(*held, strict=True))
        places = np.array(link_batch.block_starts(size), np.int64)
        yield batch_of(row=row[places], place=places)


def _count(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """How many rows have each column."""
    total = np.zeros(0, np.int64)
    for rows in batches:
        own = np.bincount(lists(rows, "vector")[1] >> 32, minlength=len(total))
        own[:len(total)] += total
        total = own
    columns = np.flatnonzero(total)
    yield batch_of(column=columns, rows=total[columns])


# ---- The plan --------------------------------------------------------------------------------------------------------

def _products(stages: Stages, vectors: Stage, sample: Sample, options: dict[str, Any]) -> link_batch.Products:
    """Chooses the budget by the true neighbours of the sample."""
    def blocks() -> Any:
        placed = map_batches(vectors.table.filter("side = 1").select("row", "vector"), _in_block,
                             "block int, row long, vector binary", sample.starts)
        return placed.repartition(sample.target.blocks, "block").sortWithinPartitions("block", "row")

    def nearest() -> Any:
        found = map_partitions(blocks(), _true_neighbours, "query long, row long, similarity double", sample)
        return map_partitions(found.repartition(1).sortWithinPartitions("query"), _first_true,
                              "query long, row long, similarity double")
    found = stages.table("link-truth", nearest, [vectors]).table.toArrow()
    order = np.lexsort((numbers(found, "row"), -numbers(found, "similarity"), numbers(found, "query")))
    counts = np.bincount(numbers(found, "query"), minlength=len(sample.vectors[0]) - 1)
    truth = link_batch.Neighbours(np.zeros(len(counts)), np.concatenate(([0], np.cumsum(counts))),
                                  numbers(found, "row")[order], numbers(found, "similarity")[order])

    def tallies() -> Any:
        return map_partitions(map_partitions(blocks(), _try, "counts binary", sample, truth, options).repartition(1),
                              summed, "counts binary")
    made = stages.table("link-tallies", tallies, [vectors], **options).table.head()
    tally = np.frombuffer(bytes(made["counts"]), np.uint64) if made else np.zeros(link_batch.TALLY, np.uint64)
    return link_batch.choose_products(truth, tally, **options)


def _in_block(rows: pyarrow.RecordBatch, starts: Array) -> Any:
    import pyarrow
    block = np.searchsorted(starts, numbers(rows, "row"), "right") - 1
    return rows.add_column(0, "block", pyarrow.array(block.astype(np.int32)))


def _whole_blocks(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[tuple[int, pyarrow.Table]]:
    for table in tables_of_cells(batches, "block"):
        yield int(numbers(table, "block")[0]), table


def _true_neighbours(batches: Iterator[pyarrow.RecordBatch], sample: Sample) -> Iterator[pyarrow.RecordBatch]:
    """Of each block; rows are numbered by their places among the target rows."""
    for block, table in _whole_blocks(batches):
        found = link_batch.true_neighbours(sample.vectors, lists(table, "vector"), threads=1)
        yield batch_of(query=found["query"], row=found["row"] + sample.places[block],
                       similarity=found["similarity"].astype(np.float32).astype(np.float64))


def _first_true(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    import pyarrow
    for table in runs(batches, ["query"]):
        query = numbers(table, "query")
        order = np.lexsort((numbers(table, "row"), -numbers(table, "similarity"), query))
        kept = np.arange(len(query)) - np.searchsorted(query, query) < link_batch.TRUE_NEIGHBOURS
        yield table.take(pyarrow.array(order[kept]))


def _try(batches: Iterator[pyarrow.RecordBatch], sample: Sample, truth: link_batch.Neighbours,
         options: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    for block, table in _whole_blocks(batches):
        tally = link_batch.try_products(sample.vectors, lists(table, "vector"), int(sample.places[block]), truth,
                                        sample.target, **options)
        yield batch_of(counts=[tally.tobytes()])


# ---- Proposals -------------------------------------------------------------------------------------------------------

def _propose(batches: Iterator[pyarrow.RecordBatch], target: link_batch.TargetRows, most: float,
             options: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow
    for cell in tables_of_cells(batches, "cell"):
        first = int((numbers(cell, "side") == 0).sum())
        halves = [cell.slice(0, first), cell.slice(first)]
        rows = [numbers(half, "row") for half in halves]
        found = link_batch.propose(lists(halves[0], "vector"), lists(halves[1], "vector"), target, most, **options)
        hits = np.empty(len(found), _PROPOSED)
        hits["row"], hits["similarity"], hits["sum"] = rows[1][found["row"]], found["similarity"], found["sum"]
        if len(hits):
            made = packed_hits(0, rows[0], found["query"], hits)
            block = np.full(made.num_rows, int(numbers(cell, "cell")[0]) % target.blocks, np.int32)
            yield made.append_column("block", pyarrow.array(block))


def _keep(batches: Iterator[pyarrow.RecordBatch], target: link_batch.TargetRows, beyond: float,
          options: dict[str, Any]) -> Iterator[pyarrow.RecordBatch]:
    """The proposals of a row come block by block."""
    for table in runs(batches, ["row"], rows=20_000):
        hits, lengths = unpacked_hits(table, _PROPOSED)
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        row = numbers(table, "row")
        kept = link_batch.keep(row, numbers(table, "block"), offsets, hits["sum"], target, **options)
        good = np.arange(len(hits)) - np.repeat(offsets[:-1], lengths) < np.repeat(kept, lengths)
        good &= (hits["similarity"] > 0) & (hits["similarity"] >= beyond)
        yield from hits_of_pairs(np.repeat(row, lengths)[good], hits["row"][good], hits["similarity"][good])
