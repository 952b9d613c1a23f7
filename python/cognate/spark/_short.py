"""Documents with few weighted terms: their pairs are measured by their sets of terms, as on one machine.

Two sets whose Jaccard coefficient is t or more share one of the first n - ceil(t n) + 1 terms of either, in any order
of all terms. Rows are emitted under these terms; in each run, rows of short documents are compared with all others.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import batch
from ._arrow import Array, batch_of, lists, map_batches, map_partitions, numbers, run_starts, runs
from ._rows import documents_in, sign_in
from ._stages import Stage, Stages

if TYPE_CHECKING:
    import pyarrow

SMALL = "side int, row long, short boolean, terms array<long>"
KEYS = "key long, side int, row long, short boolean"
_TERMS_MOST = 64  # a set with more is no partner of a document with few weighted terms, unless that has as many itself


def candidates(stages: Stages, documents: list[Stage], statistics: Stage, data: bytes, terms: dict[str, Any],
               threshold: float, short_terms: int, partitions: int) -> Stage | None:
    """Pairs (a, b, distance: NULL) that may match; None if no document is short."""
    from pyspark.sql import functions as f

    def make() -> Any:
        frames = [map_batches(stage.table, _small_sets, SMALL, data, side, terms, short_terms)
                  for side, stage in enumerate(documents)]
        return frames[0] if len(frames) == 1 else frames[0].union(frames[1])
    sets = stages.table("term-sets", make, [*documents, statistics], terms=terms, short_terms=short_terms)
    most = sets.table.filter("short").agg(f.max(f.size("terms")), f.count(f.lit(1))).collect()[0]
    stages.note(short_documents=most[1])
    if not most[1]:
        return None
    limit = int(most[0] / threshold + 1e-6)

    def meet() -> Any:
        keys = map_batches(sets.table.filter(f.size("terms") <= limit), _prefixes, KEYS, threshold)
        together = keys.repartition(partitions, "key").sortWithinPartitions("key", "short", "side", "row")
        met = map_partitions(together, _meet, "a long, b long", len(documents) == 2)
        return met.distinct().selectExpr("a", "b", "cast(null as int) as distance")
    return stages.table("short-candidates", meet, [sets], threshold=threshold)


def _small_sets(rows: Any, statistics: bytes, side: int, terms: dict[str, Any], short_terms: int) -> Any:
    import pyarrow
    from .signatures import _statistics, _term_options
    _, _, counts = sign_in(rows, 64, 0, _statistics(statistics), terms, False)
    usual = {"ngram": 1, "stem": True, "drop_stop_words": True, **_term_options(terms)}
    with documents_in(rows) as (documents, _):
        table = batch.term_sets(documents, measure="containment", threads=1, **usual).to_arrow()
    offsets, _ = lists(table, "terms")
    place = numbers(table, "row")
    size, short = np.diff(offsets), counts[place] < short_terms
    kept = np.flatnonzero((size > 0) & (short | (size <= _TERMS_MOST)))
    return batch_of(side=np.full(len(kept), side, np.int32), row=numbers(rows, "row")[place[kept]], short=short[kept],
                    terms=table["terms"].combine_chunks().take(pyarrow.array(kept)))


def _prefixes(rows: Any, threshold: float) -> Any:
    offsets, items = lists(rows, "terms")
    size = np.diff(offsets)
    length = size - np.ceil(threshold * size - 1e-9).astype(np.int64) + 1
    owner = np.repeat(np.arange(len(size)), length)
    inside = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    return batch_of(key=items[offsets[owner] + inside], side=numbers(rows, "side")[owner],
                    row=numbers(rows, "row")[owner], short=numbers(rows, "short")[owner])


def _meet(batches: Iterator[pyarrow.RecordBatch], cross: bool) -> Iterator[pyarrow.RecordBatch]:
    for table in runs(batches, ["key"]):
        side, row, short = numbers(table, "side"), numbers(table, "row"), numbers(table, "short")
        starts = run_starts(table, ["key"])
        for begin, end in zip(starts, [*starts[1:], len(row)], strict=True):
            first = begin + int((~short[begin:end]).sum())
            for query in range(first, end):  # a short row with all before it, long and short
                yield _pairs(side, row, query, begin, cross)


def _pairs(side: Array, row: Array, query: int, begin: int, cross: bool) -> Any:
    others = np.arange(begin, query)
    if not cross:
        met = row[others]
        return batch_of(a=np.minimum(met, row[query]), b=np.maximum(met, row[query]))
    others = others[side[others] != side[query]]
    met, own = row[others], np.full(len(others), row[query])
    return batch_of(a=own, b=met) if side[query] == 0 else batch_of(a=met, b=own)
