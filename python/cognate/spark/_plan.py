"""Predicts the cost of a join of signatures on a cluster: comparisons, bytes, partitions, memory."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .. import batch
from . import _tables
from .signatures import _PART_ROWS, Method

#: Bytes that Spark writes per shuffled row in addition to its signature, after compression (bench/spark/spark_windows.py,
#: bench/spark/spark_workers.py).
WINDOW_ROW_BYTES = 8.7
KEY_ROW_BYTES = 16.0
#: Memory of a task: a stretch of rows in Arrow, once as it comes and once as an array, and Spark's own sort.
_ROW_COPIES = 3
_TASK_BYTES = 200 << 20


class SparkPlan(NamedTuple):
    """Settings of a join and what they cost."""
    join: batch.JoinPlan
    partitions: int
    shuffled_bytes: float  #: of chunk generation, or of the rows under their keys
    comparisons: float  #: of signatures
    task_bytes: float  #: memory that a task needs outside the JVM's heap
    fits: bool  #: whether tasks of one core each fit the memory of an executor


def plan(rows: int, against: int = 0, *, method: Method = "window", threshold: float = 0.8, recall: float = 0.95,
         bits: int = 1024, knobs: Mapping[str, int] | None = None, executors: int = 2, cores: int = 1,
         memory_bytes: int = 2 << 30) -> SparkPlan:
    """Tables, partitions and memory from the size of the data and of the cluster.

    ``memory_bytes`` is the memory of an executor for its Python workers, ``cores`` the number of tasks that it runs at
    a time.

    >>> from cognate.spark import plan
    >>> chosen = plan(100_000, 100_000, knobs={"tables": 300, "window": 200})
    >>> chosen.partitions, round(chosen.shuffled_bytes / 1e9, 1), round(chosen.comparisons / 1e9, 1)
    (300, 8.2, 12.0)
    """
    join = batch.plan_join(rows, against, method=method, threshold=threshold, recall=recall, bits=bits, knobs=knobs)
    total, slots, width = rows + against, executors * cores, bits / 8
    if method == "window":
        parts = max(-(-2 * slots // join.tables), -(-total // _PART_ROWS), 1)
        emitted, row_bytes, partitions = float(total) * join.tables, width + WINDOW_ROW_BYTES, join.tables * parts
        task_rows = total / parts
    elif method == "lsh":
        flipped = total if not against or join.flip_both else rows
        emitted = float(join.tables) * (total + flipped * join.flips)
        partitions = max(2 * slots, int(emitted // _PART_ROWS) + 1)
        # Of the keys of a row that come to one partition, all but the first have a signature that compresses to nothing.
        apart = partitions * (1 - (1 - 1 / partitions) ** (emitted / total)) / (emitted / total)
        row_bytes, task_rows = width * apart + KEY_ROW_BYTES, emitted / partitions
    else:
        blocks = [_tables.blocks_of(side, _tables.BLOCK_ROWS) for side in (rows, against or rows)]
        emitted = float(rows) * blocks[1] + float(against) * blocks[0]
        row_bytes, partitions = width + KEY_ROW_BYTES, max(2 * slots, blocks[0] * blocks[1] // 2)
        task_rows = 2.0 * _tables.BLOCK_ROWS
    task_bytes = _TASK_BYTES + _ROW_COPIES * task_rows * (width + KEY_ROW_BYTES)
    return SparkPlan(join, partitions, emitted * row_bytes, join.comparisons, task_bytes,
                     task_bytes * cores <= memory_bytes)
