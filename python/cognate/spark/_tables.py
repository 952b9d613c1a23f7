"""Hash tables on a cluster (Distributed LSH): rows by their keys, and pairs of rows that share a key.

Every row is emitted with its signature under each of its keys. Rows are then repartitioned by table and key and sorted,
and runs of equal keys are compared. A key with many rows is cut into blocks, and every pair of blocks is a cell for any
task: the pairs are the same, and no task is hot. Brute force uses one key that all rows share.

In a run, rows of half 0 are compared with each other, rows of half 2 with rows of half 1.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from .. import batch
from ._arrow import Array, batch_of, numbers, run_starts, runs
from ._rows import signature_column, signatures_in

if TYPE_CHECKING:
    import pyarrow

KEYS = "table int, key long, own boolean, side int, row long, signature binary"
CELLS = KEYS + ", cell int, half int"
ORDER = ["table", "key", "cell", "half", "side", "row"]
#: Pairs, and (a NULL) counts of comparisons in b.
FOUND = "a long, b long, distance int"
#: Rows of a key from which on it is cut into blocks, and of a block.
BLOCK_ROWS = 20_000


class Keys(NamedTuple):
    """Everything that the keys of a row depend on."""
    tables: int
    key_bits: int
    flips: int
    flip_mode: Literal["none", "random", "distance", "across"]
    flip_both: bool
    seed: int
    cross: bool  #: between two collections: rows of the second have flipped keys only if both sides flip


def emit(batches: Iterator[pyarrow.RecordBatch], keys: Keys) -> Iterator[pyarrow.RecordBatch]:
    """Emits rows under their keys. The margins of a row are those of its first bits."""
    for rows in batches:
        signatures, row, side = signatures_in(rows), numbers(rows, "row"), numbers(rows, "side")
        margins = _margins(rows, signatures, keys)
        for number in (0, 1):
            own = np.flatnonzero(side == number)
            if not len(own):
                continue
            table = batch.table_keys(signatures[own], tables=keys.tables, key_bits=keys.key_bits, flips=keys.flips,
                                     flip_mode=keys.flip_mode, seed=keys.seed,
                                     margins=None if margins is None else margins[own],
                                     flipped=number == 0 or keys.flip_both, threads=1)
            places = own[table["row"]]
            # The own keys of a row come first, one for each table.
            position = np.arange(len(places)) - np.searchsorted(table["row"], table["row"])
            yield batch_of(table=table["table"], key=table["key"], own=position < keys.tables, side=side[places],
                           row=row[places], signature=signature_column(signatures[places]))


def _margins(rows: Any, signatures: Array, keys: Keys) -> Array | None:
    if keys.flip_mode not in ("distance", "across"):
        return None
    first = signatures_in(rows, "margins").view(np.float32)
    margins = np.zeros((len(signatures), signatures.shape[1] * 8), np.float32)
    margins[:, :first.shape[1]] = first
    return margins


def everything(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """All rows under one key."""
    for rows in batches:
        count = rows.num_rows
        yield batch_of(table=np.zeros(count, np.int32), key=np.zeros(count, np.int64), own=np.ones(count, bool),
                       side=numbers(rows, "side"), row=numbers(rows, "row"), signature=rows.column("signature"))


def place(batches: Iterator[pyarrow.RecordBatch], heavy: dict[tuple[int, int], tuple[int, int]],
          cross: bool) -> Iterator[pyarrow.RecordBatch]:
    """Assigns each row to its cells. heavy[table, key]: blocks of the first and of the second side."""
    for rows in batches:
        table, key, side, row = (numbers(rows, name) for name in ("table", "key", "side", "row"))
        usual = np.ones(len(table), bool)
        for (number, value), blocks in heavy.items():
            found = np.flatnonzero((table == number) & (key == value))
            if len(found):
                usual[found] = False
                yield from _cells(rows, found, side[found], row[found], blocks, cross)
        places = np.flatnonzero(usual)
        half = side[places] + 1 if cross else np.zeros(len(places), np.int32)
        yield _placed(rows, places, np.zeros(len(places), np.int32), half.astype(np.int32))


def _cells(rows: Any, found: Array, side: Array, row: Array, blocks: tuple[int, int], cross: bool) -> Iterator[Any]:
    first, second = blocks
    block = block_of(row, np.where(side == 1, second, first) if cross else np.full(len(row), first))
    for other in range(max(first, second)):
        if cross:
            own = np.flatnonzero(np.where(side == 1, other < first, other < second))
            cell = np.where(side[own] == 1, other * second + block[own], block[own] * second + other)
            half = side[own] + 1
        else:
            own = np.arange(len(row))
            low, high = np.minimum(block, other), np.maximum(block, other)
            cell = low * first + high
            half = np.where(block == other, 0, np.where(block < other, 1, 2))
        yield _placed(rows, found[own], cell.astype(np.int32), half.astype(np.int32))


def block_of(row: Array, blocks: Array) -> Array:
    """Blocks by a hash of the row, so that rows of one origin spread."""
    mixed = row.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((mixed >> np.uint64(33)) % blocks.astype(np.uint64)).astype(np.int64)


def _placed(rows: Any, places: Array, cell: Array, half: Array) -> Any:
    import pyarrow
    taken = rows.take(pyarrow.array(places))
    return taken.append_column("cell", pyarrow.array(cell)).append_column("half", pyarrow.array(half))


def walk(batches: Iterator[pyarrow.RecordBatch], radius: int, cross: bool,
         flip_both: bool) -> Iterator[pyarrow.RecordBatch]:
    """Pairs within the radius of rows in one run; without flips on both sides, one of them by its own key."""
    compared = 0
    for table in runs(batches, ["table", "key", "cell"]):
        signatures, own, half = signatures_in(table), numbers(table, "own"), numbers(table, "half")
        side, row = numbers(table, "side"), numbers(table, "row")
        first, last = _bounds(run_starts(table, ["table", "key", "cell"]), half)
        compared += int((last - first).sum())
        hits = batch.band_pairs(signatures, first, last, radius, threads=1)
        x, y = hits["row"], hits["query"]
        kept = (own[x] | own[y] | flip_both) if not cross else np.ones(len(x), bool)
        kept &= (side[x] != side[y]) if cross else row[x] != row[y]
        a, b, distance = row[x[kept]], row[y[kept]], hits["distance"][kept]
        if not cross:
            a, b = np.minimum(a, b), np.maximum(a, b)
        yield _distinct(a, b, distance)
    yield batch_of(a=_nulls(), b=np.array([compared], np.int64), distance=np.zeros(1, np.int32))


def _nulls() -> Any:
    import pyarrow
    return pyarrow.nulls(1, pyarrow.int64())


def _bounds(starts: Array, half: Array) -> tuple[Array, Array]:
    """The rows of its run that each row is compared with: those before it; rows of half 1 for half 2, none for half
    1."""
    count = len(half)
    run = np.zeros(count, np.int64)
    run[starts[1:]] = 1
    first = starts[np.cumsum(run)]
    ones = np.concatenate(([0], np.cumsum(half == 1)))
    ends = np.append(starts[1:], count)[np.cumsum(run)]
    last = np.where(half == 0, np.arange(count), np.where(half == 1, first, first + ones[ends] - ones[first]))
    return first, last


def _distinct(a: Array, b: Array, distance: Array) -> Any:
    order = np.lexsort((b, a))
    a, b, distance = a[order], b[order], distance[order]
    new = np.ones(len(a), bool)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    return batch_of(a=a[new], b=b[new], distance=distance[new].astype(np.int32))


def blocks_of(count: int, block_rows: int) -> int:
    """The number of blocks that `count` rows are cut into."""
    return max(1, -(-count // block_rows))
