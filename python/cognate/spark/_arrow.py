"""Arrow batches in executors, between Spark's mapInArrow and cognate.batch.

Nothing here makes a Python object per row. Functions that run in executors are defined in modules of this package:
Spark then sends their names and arguments, and the archive (`_archive.py`) brings the code.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow

Array = np.ndarray[Any, Any]


def map_batches(frame: Any, function: Callable[..., Any], schema: str, *arguments: Any, **options: Any) -> Any:
    """A DataFrame of the results of ``function(batch, *arguments, **options)`` for each Arrow batch of ``frame``.

    The function returns a RecordBatch, a Table, or None for nothing.
    """
    bound = functools.partial(_each_batch, function, arguments, options)
    return frame.mapInArrow(bound, schema)


def map_partitions(frame: Any, function: Callable[..., Any], schema: str, *arguments: Any, **options: Any) -> Any:
    """The same with ``function(batches, *arguments, **options)``, which takes an iterator over a partition and yields
    results."""
    return frame.mapInArrow(functools.partial(_each_partition, function, arguments, options), schema)


def _each_batch(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any],
                batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for batch in batches:
        if batch.num_rows:
            yield from _pieces(function(batch, *arguments, **options))


def _each_partition(function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any],
                    batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    for result in function((batch for batch in batches if batch.num_rows), *arguments, **options):
        yield from _pieces(result)


def _pieces(result: Any) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow
    if result is None:
        return
    if isinstance(result, pyarrow.RecordBatch):
        yield result
    else:
        yield from result.to_batches()


def runs(batches: Iterator[pyarrow.RecordBatch], keys: list[str], rows: int = 200_000) -> Iterator[pyarrow.Table]:
    """Tables of whole runs: rows with equal keys, which are adjacent in a sorted partition, are never separated.

    A table has about ``rows`` rows, and more only if a run has.
    """
    import pyarrow
    held: list[pyarrow.RecordBatch] = []
    count, enough = 0, rows
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count < enough:
            continue
        table = pyarrow.Table.from_batches(held)
        end = run_starts(table, keys)[-1]
        if end:
            yield table.slice(0, int(end))
        held = table.slice(int(end)).to_batches()
        count -= int(end)
        enough = rows if end else 2 * count  # a long run is scanned a few times, not with every batch
    if count:
        yield pyarrow.Table.from_batches(held)


def run_starts(table: pyarrow.Table | pyarrow.RecordBatch, keys: list[str]) -> Array:
    """Where runs of equal keys begin: ascending positions, the first is 0."""
    changed = np.zeros(table.num_rows, bool)
    changed[:1] = True
    for key in keys:
        values = numbers(table, key)
        changed[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(changed)


def numbers(table: pyarrow.Table | pyarrow.RecordBatch, name: str) -> Array:
    """A column of numbers without nulls as an array, without a copy if it is in one piece.

    Columns of fixed-width bytes that arrive as `binary` become arrays of numpy's bytes of that width.
    """
    import pyarrow
    column = table.column(name)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if pyarrow.types.is_binary(column.type) or pyarrow.types.is_large_binary(column.type):
        return _fixed_bytes(column)
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def _fixed_bytes(column: Any) -> Array:
    """Binary values that all have the same length."""
    if len(column) == 0:
        return np.empty(0, "V1")
    width = len(column[0].as_py())
    offsets = np.frombuffer(column.buffers()[1], "i8" if "large" in str(column.type) else "i4")
    begin, end = (int(offsets[column.offset + at]) for at in (0, len(column)))
    return np.frombuffer(column.buffers()[2], np.uint8)[begin:end].reshape(len(column), width).view(f"V{width}").ravel()


def lists(table: pyarrow.Table | pyarrow.RecordBatch, name: str) -> tuple[Array, Array]:
    """A column of lists of int64, or of their bytes: offsets (int64, one more than rows) and the items of all lists."""
    import pyarrow
    column = table.column(name)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if pyarrow.types.is_binary(column.type) or pyarrow.types.is_large_binary(column.type):
        return _packed_lists(table, name)
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    items: Array = column.values.to_numpy(zero_copy_only=False)
    return offsets, items


def byte_rows(table: pyarrow.Table | pyarrow.RecordBatch, name: str) -> tuple[Array, Array]:
    """A column of bytes: offsets (int64, one more than rows) and the bytes of all rows."""
    import pyarrow
    column = table.column(name)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if len(column) == 0:
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    _, ends, data = column.buffers()
    width = np.int64 if "large" in str(column.type) else np.int32
    offsets = np.frombuffer(ends, width)[column.offset:column.offset + len(column) + 1].astype(np.int64)
    items = np.frombuffer(data, np.uint8)[offsets[0]:offsets[-1]] if data is not None else np.empty(0, np.uint8)
    return offsets - offsets[0], items


def _packed_lists(table: pyarrow.Table | pyarrow.RecordBatch, name: str) -> tuple[Array, Array]:
    offsets, items = byte_rows(table, name)
    items = items.view(np.int64)
    return offsets // 8, items if items.flags.aligned else items.copy()


def packed(column: Any) -> pyarrow.Array:
    """Lists of int64 as the bytes of their items: Spark moves bytes many times as fast as arrays of numbers."""
    import pyarrow
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    offsets, items = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64), column.values.to_numpy()
    items = np.ascontiguousarray(items[offsets[0]:offsets[-1]], np.int64)
    return binary((offsets - offsets[0]) * 8, items)


def binary(ends: Array, items: Array) -> pyarrow.Array:
    """A column of bytes: row i has bytes ends[i] to ends[i + 1] - 1 of the items."""
    import pyarrow
    kind, width = (pyarrow.binary(), np.int32) if ends[-1] < 1 << 31 else (pyarrow.large_binary(), np.int64)
    return pyarrow.Array.from_buffers(kind, len(ends) - 1, [None, pyarrow.py_buffer(ends.astype(width)),
                                                            pyarrow.py_buffer(np.ascontiguousarray(items))])


def batch_of(**columns: Any) -> pyarrow.RecordBatch:
    """A batch of numpy or Arrow columns."""
    import pyarrow
    return pyarrow.record_batch({name: values if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray))
                                 else pyarrow.array(values) for name, values in columns.items()})


def partition_number() -> int:
    """The number of the current partition, in an executor."""
    from pyspark import TaskContext
    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())
