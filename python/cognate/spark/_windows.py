"""Sliding windows on a cluster (Ture, Elsayed and Lin 2011, section 4.3): chunk generation and detection.

Chunk generation emits every signature under Q random orders of its bits, cuts each table into parts by ranges of the
permuted signatures, and sorts each part: the parts are the chunks. Detection compares each row with the window before it.
A task has a stretch of a part as Spark reads it. Pairs whose windows cross the ends of stretches are found at the
seams: the few rows at both ends of every stretch are compared in one task per table.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import batch
from ._arrow import Array, batch_of, numbers, runs
from ._rows import signature_column, signatures_in

if TYPE_CHECKING:
    import pyarrow

#: Permuted signatures in memory at a time, and rows of a stretch.
_BYTES_AT_ONCE = 16 << 20
_STRETCH_ROWS = 200_000

ORDER = ["part", "signature", "side", "row"]
EMITTED = "part int, side int, row long, signature binary"
CHUNKS = EMITTED + ", rank long, others long"
#: Pairs (kind 0), rows of seams (1), and counts of comparisons (2).
FOUND = "kind int, a long, b long, distance int, part int, side int, row long, rank long, others long, begin long, " \
        "signature binary"
PAIR, SEAM, COUNT = range(3)


class Windows(NamedTuple):
    """Everything that a join by windows depends on."""
    tables: int
    window: int
    shared: bool
    radius: int
    seed: int
    cross: bool  #: between two collections


# ---- Chunk generation ------------------------------------------------------------------------------------------------

def splits_of(sample: Array, tables: int, seed: int, parts: int) -> Array:
    """Where parts begin: uint64 [tables, parts - 1], the first eight bytes of permuted signatures."""
    heads = np.empty((tables, max(parts - 1, 0)), np.uint64)
    if parts > 1:
        places = np.arange(1, parts) * len(sample) // parts
        for table in range(tables):
            heads[table] = np.sort(_heads(batch.permute(sample, seed=seed, first_table=table, threads=1)[0]))[places]
    return heads


def _heads(signatures: Array) -> Array:
    padded = signatures if signatures.shape[1] >= 8 else np.pad(signatures, ((0, 0), (0, 8 - signatures.shape[1])))
    return np.ascontiguousarray(padded[:, :8]).view(">u8").ravel().astype(np.uint64)


def emit(batches: Iterator[pyarrow.RecordBatch], seed: int, splits: Array) -> Iterator[pyarrow.RecordBatch]:
    """Every row under every order of its bits, with the number of the part that it belongs to."""
    tables, parts = splits.shape[0], splits.shape[1] + 1
    for rows in batches:
        signatures, row, side = signatures_in(rows), numbers(rows, "row"), numbers(rows, "side")
        at_once = max(1, _BYTES_AT_ONCE // max(signatures.nbytes, 1))
        for first in range(0, tables, at_once):
            permuted = batch.permute(signatures, seed=seed, first_table=first, tables=min(at_once, tables - first),
                                     threads=1)
            for table, own in enumerate(permuted, first):
                part = table * parts + np.searchsorted(splits[table], _heads(own), side="right")
                yield batch_of(part=part.astype(np.int32), side=side, row=row, signature=signature_column(own))


def place(batches: Iterator[pyarrow.RecordBatch], cross: bool) -> Iterator[pyarrow.RecordBatch]:
    """Numbers the rows of sorted parts: how many rows of its side, and of the other, come before it in the part."""
    current, before = -1, [0, 0]
    for rows in batches:
        part, side = numbers(rows, "part"), numbers(rows, "side")
        rank, others = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
        for begin, end in _stretches(part):
            if part[begin] != current:
                current, before = int(part[begin]), [0, 0]
            second = side[begin:end] == 1 if cross else np.zeros(end - begin, bool)
            seconds = before[1] + np.cumsum(second) - second
            firsts = before[0] + np.cumsum(~second) - ~second
            rank[begin:end] = np.where(second, seconds, firsts)
            others[begin:end] = np.where(second, firsts, seconds) if cross else 0
            before = [before[0] + int((~second).sum()), before[1] + int(second.sum())]
        yield rows.append_column("rank", _array(rank)).append_column("others", _array(others))


def _array(values: Array) -> Any:
    import pyarrow
    return pyarrow.array(values)


def _stretches(keys: Array) -> Iterator[tuple[int, int]]:
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.empty(0, int)
    yield from zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True)


# ---- Detection -------------------------------------------------------------------------------------------------------

class _Rows(NamedTuple):
    """Rows of a table in their order."""
    side: Array
    row: Array
    rank: Array
    others: Array
    signatures: Array

    def cut(self, where: Any) -> _Rows:
        return _Rows(*(column[where] for column in self))


def _read(rows: Any) -> _Rows:
    return _Rows(numbers(rows, "side"), numbers(rows, "row"), numbers(rows, "rank"), numbers(rows, "others"),
                 signatures_in(rows))


def detect(batches: Iterator[pyarrow.RecordBatch], windows: Windows, whole: dict[int, int],
           ) -> Iterator[pyarrow.RecordBatch]:
    """Pairs inside the stretches of parts, and the rows at their ends.

    whole[part]: rows of the parts that are a table by themselves, which have no seams if they come in one piece.
    """
    import pyarrow
    held: list[pyarrow.RecordBatch] = []
    count, part, next_place = 0, -1, 0
    for rows in batches:
        parts, places = numbers(rows, "part"), numbers(rows, "rank") + numbers(rows, "others")
        for begin, end in _stretches(parts):
            if held and (part != parts[begin] or places[begin] != next_place or count >= _STRETCH_ROWS):
                yield from _detect_stretch(pyarrow.Table.from_batches(held), windows, whole)
                held, count = [], 0
            held.append(rows.slice(begin, end - begin))
            part, next_place, count = int(parts[begin]), int(places[end - 1]) + 1, count + end - begin
    if held:
        yield from _detect_stretch(pyarrow.Table.from_batches(held), windows, whole)


def _detect_stretch(table: Any, windows: Windows, whole: dict[int, int]) -> Iterator[pyarrow.RecordBatch]:
    rows, part = _read(table), int(numbers(table, "part")[0])
    begin = int(rows.rank[0] + rows.others[0])
    own = rows._replace(rank=_counted(rows.side, windows.cross)[0], others=_counted(rows.side, windows.cross)[1])
    pairs, compared = _compare(own, own, windows, None, None)
    yield _found_pairs(*pairs)
    yield _found_count(compared)
    is_whole = begin == 0 and len(rows.row) == whole.get(part)
    seam = np.zeros(len(rows.row), bool) if is_whole else _seam_rows(own, windows)
    yield _found_seams(rows.cut(seam), part, begin)


def _counted(side: Array, cross: bool) -> tuple[Array, Array]:
    """Ranks in the stretch: of the own side before each row, and of the other."""
    if not cross:
        return np.arange(len(side)), np.zeros(len(side), np.int64)
    second = (side == 1).astype(np.int64)
    seconds, firsts = np.cumsum(second) - second, np.cumsum(1 - second) - (1 - second)
    return np.where(second, seconds, firsts), np.where(second, firsts, seconds)


def _seam_rows(rows: _Rows, windows: Windows) -> Array:
    """Rows whose windows begin before the stretch, and rows that windows after it may reach."""
    places, window = rows.rank + rows.others, windows.window
    if not windows.cross or windows.shared:
        ends: Array = (places < window) | (places >= len(places) - window)
        return ends
    sizes = np.where(rows.side == 1, (rows.side == 1).sum(), (rows.side != 1).sum())
    seam: Array = (rows.others < window) | (rows.rank >= sizes - window)
    return seam


def _compare(queries: _Rows, rows: _Rows, windows: Windows, limit: Array | None,
             places: Array | None) -> tuple[tuple[Array, Array, Array], int]:
    """Pairs of queries with the rows of their windows; with a limit only rows whose places are before it."""
    if not windows.cross:
        pieces = [_band(queries, rows, queries.rank - windows.window, queries.rank, windows, limit, places, False)]
    else:
        pieces = []
        for side in (0, 1):
            ours, theirs = queries.side == side, rows.side != side
            asking, met = queries.cut(ours), rows.cut(theirs)
            begins, ends = asking.others - windows.window, asking.others
            if windows.shared:
                begins = _shared_begins(asking, met, windows.window)
            pieces.append(_band(asking, met, begins, ends, windows, None if limit is None else limit[ours],
                                None if places is None else places[theirs], side == 1))
    columns = [np.concatenate(parts) for parts in zip(*(pairs for pairs, _ in pieces), strict=True)]
    return (columns[0], columns[1], columns[2]), sum(compared for _, compared in pieces)


def _shared_begins(asking: _Rows, met: _Rows, window: int) -> Array:
    """The rank of the first row of the other side that is at most a window before each row."""
    places = met.rank + met.others
    first = np.searchsorted(places, asking.rank + asking.others - window)
    ranks = np.concatenate((met.rank, [met.rank[-1] + 1 if len(met.rank) else 0]))
    begins: Array = ranks[first]
    return begins


def _band(queries: _Rows, rows: _Rows, begins: Array, ends: Array, windows: Windows, limit: Array | None,
          places: Array | None, swap: bool) -> tuple[tuple[Array, Array, Array], int]:
    first, last = np.searchsorted(rows.rank, begins), np.searchsorted(rows.rank, ends)
    if limit is not None and places is not None:
        last = np.minimum(last, np.searchsorted(places, limit))
    first = np.minimum(first, last)
    table = batch.band_pairs(queries.signatures, first, last, windows.radius, rows=rows.signatures, threads=1)
    one, other = queries.row[table["query"]], rows.row[table["row"]]
    if windows.cross:
        pair = (other, one) if swap else (one, other)
    else:
        pair = (np.minimum(one, other), np.maximum(one, other))
    return (*pair, table["distance"]), int((last - first).sum())


def _found_pairs(a: Array, b: Array, distance: Array) -> Any:
    order = np.lexsort((b, a))
    return _found(len(a), kind=np.full(len(a), PAIR, np.int32), a=a[order], b=b[order],
                  distance=distance[order].astype(np.int32))


def _found_count(compared: int) -> Any:
    return _found(1, kind=np.array([COUNT], np.int32), a=np.array([compared], np.int64))


def _found_seams(rows: _Rows, part: int, begin: int) -> Any:
    count = len(rows.row)
    return _found(count, kind=np.full(count, SEAM, np.int32), part=np.full(count, part, np.int32), side=rows.side,
                  row=rows.row, rank=rows.rank, others=rows.others, begin=np.full(count, begin, np.int64),
                  signature=signature_column(rows.signatures))


def _found(count: int, **columns: Any) -> Any:
    import pyarrow
    types = {"int": pyarrow.int32(), "long": pyarrow.int64(), "binary": pyarrow.binary()}
    arrays = {}
    for name, kind in (field.split() for field in FOUND.split(", ")):
        column = columns.get(name)
        arrays[name] = pyarrow.nulls(count, types[kind]) if column is None else column
    return batch_of(**arrays)


def offsets_of(sizes: dict[tuple[int, int], int], tables: int,
               parts: int) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """From the rows of each (part, side): those of each side before a part in its table, and the whole tables."""
    offsets, whole = {}, {}
    for table in range(tables):
        before = [0, 0]
        for part in range(table * parts, (table + 1) * parts):
            offsets[part] = (before[0], before[1])
            for side in (0, 1):
                before[side] += sizes.get((part, side), 0)
        if parts == 1:
            whole[table] = before[0] + before[1]
    return offsets, whole


# ---- Seams -----------------------------------------------------------------------------------------------------------

def meet_at_seams(batches: Iterator[pyarrow.RecordBatch], windows: Windows,
                  offsets: dict[int, tuple[int, int]]) -> Iterator[pyarrow.RecordBatch]:
    """Pairs of different stretches of a table. offsets[part]: rows of each side before the part in its table.

    The rows of a table come together, sorted by part and place.
    """
    for table in runs(batches, ["table"]):
        for begin, end in _stretches(numbers(table, "table")):
            yield from _meet_table(table.slice(begin, end - begin), windows, offsets)


def _meet_table(table: Any, windows: Windows, offsets: dict[int, tuple[int, int]]) -> Iterator[Any]:
    rows, part = _read(table), numbers(table, "part")
    before = np.array([offsets[int(number)] for number in part], np.int64).reshape(-1, 2)
    second = (rows.side == 1) & windows.cross
    firsts, seconds = before[:, 0], before[:, 1]
    rows = rows._replace(rank=rows.rank + np.where(second, seconds, firsts),
                         others=rows.others + (np.where(second, firsts, seconds) if windows.cross else 0))
    limit = numbers(table, "begin") + firsts + seconds
    pairs, compared = _compare(rows, rows, windows, limit, rows.rank + rows.others)
    yield _found_pairs(*pairs)
    yield _found_count(compared)
