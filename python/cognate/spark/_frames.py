"""DataFrames as documents: which column is what, and the order of the input."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrow import map_partitions, partition_number
from ._stages import Stage, Stages, hash_of

if TYPE_CHECKING:
    import pyarrow

_INTEGERS = ("tinyint", "smallint", "int", "bigint")


class Documents:
    """A DataFrame with the columns that jobs use: doc (a number of the document), id, ord, keep, text, lang.

    ``ord`` is the order of the input: that of the column ``order``, with ties by id, or of the ids alone.
    """

    def __init__(self, frame: Any, text: str, id: str, order: str | None = None, lang: str | None = None,
                 keep: str | None = None, data: str | None = None, is_numbered: bool = False):
        from pyspark.sql import functions as f
        names = frame.columns
        for name, what in ((text, "texts"), (id, "ids"), (order, "order"), (keep, "values to keep by")):
            if name is not None and name not in names:
                raise ValueError(f"no column {name!r} for the {what}; there are {', '.join(names)}")
        kind = frame.schema[id].dataType.simpleString()
        self.source, self.text, self.id = frame, text, id
        #: Ids are places in the input already, and unique.
        self.is_numbered = is_numbered
        self.is_hashed = kind not in _INTEGERS
        self.doc = f.xxhash64(id) if self.is_hashed else f.col(id).cast("long")
        columns = [self.doc.alias("doc"), f.col(id).alias("id"), f.col(text).cast("string").alias("text"),
                   (f.col(id) if order is None else f.struct(f.col(order), f.col(id))).alias("ord")]
        if lang is not None and lang in names:
            columns.append(f.col(lang).alias("lang"))
        if keep is not None:
            columns.append(f.col(keep).alias("keep"))
        self.frame = frame.select(*columns).filter(f.col("text").isNotNull())
        #: What the data is, for hashes of stages.
        self.data = data or plan_hash(self.frame)

    def order(self, falling: bool = False) -> list[Any]:
        """The order of the input, as columns to sort by."""
        from pyspark.sql import functions as f
        return [f.col("ord").desc() if falling else f.col("ord")]

    def rows(self, stages: Stages, name: str) -> Stage:
        """The documents with their places in the input: row, id, text, lang."""
        own = self.frame.drop("keep")
        if self.is_numbered:
            return stages.table(name, lambda: own.withColumnRenamed("doc", "row"), [self.data])
        rows = numbered(stages, name, own.drop("doc"), self.order(), "row", [self.data])
        self.check_ids(stages, rows, "id")
        return rows

    def check_ids(self, stages: Stages, table: Stage, key: str = "doc") -> None:
        """Refuses ids that name two documents."""
        from pyspark.sql import functions as f
        if self.is_numbered:
            return

        def make() -> Any:
            return table.table.groupBy(f.col(key).alias("key")).agg(
                f.count(f.lit(1)).alias("times"), f.min("id").alias("id"), f.max("id").alias("other")).filter(
                "times > 1").limit(10)
        double = stages.table("double-ids", make, [table]).table.head(1)
        if double:
            refuse_double(double[0]["id"], double[0]["other"], double[0]["times"])

    def rows_without(self, gone: Any) -> Any:
        """The rows of the source that have a text and whose doc is not among these."""
        from pyspark.sql import functions as f
        keyed = self.source.withColumn("_cognate_doc", self.doc).filter(f.col(self.text).isNotNull())
        return keyed.join(gone.select(f.col("doc").alias("_cognate_doc")), "_cognate_doc", "left_anti").select(
            *self.source.columns)


def refuse_double(id: Any, other: Any, times: int) -> None:
    """Raises an error if several documents have one id, or two ids have one number."""
    if id == other:
        raise ValueError(f"the id {id!r} is that of {times} documents: ids must be unique; drop the rows that repeat, or "
                         "name another column")
    raise ValueError(f"the ids {id!r} and {other!r} have the same hash: rename one of them, or give numbers as ids")


def plan_hash(frame: Any) -> str:
    """A hash of the origin of a DataFrame: files with their times, and its plan."""
    try:
        files = sorted(frame.inputFiles())
    except Exception:  # not every source has files
        files = []
    plan = frame._jdf.queryExecution().analyzed().canonicalized().toString() if hasattr(frame, "_jdf") else str(
        frame.schema.simpleString())
    return hash_of(plan, files)


def numbered(stages: Stages, name: str, frame: Any, order: list[Any], number: str, inputs: list[Any],
             **settings: Any) -> Stage:
    """The rows of a frame in this order, numbered from 0. The order must have no ties."""
    from pyspark.sql import functions as f
    ordered = stages.table(name, lambda: number_rows(frame.orderBy(*order)), inputs, **settings)
    counts = {row["part"]: row["count"] for row in ordered.table.groupBy("part").count().collect()}
    begins = np.cumsum([0] + [counts.get(part, 0) for part in range(max(counts, default=0))]).tolist()
    begin = f.element_at(f.array(*map(f.lit, begins)), f.col("part") + 1)
    return Stage(ordered.table.withColumn(number, begin + f.col("place")).drop("part", "place"), ordered.hash, ordered.facts)


def number_rows(frame: Any) -> Any:
    """Adds the partition of each row, and its place there."""
    schema = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in frame.schema.fields)
    return map_partitions(frame, _numbered, f"{schema}, part int, place long")


def _numbered(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    import pyarrow
    place, part = 0, partition_number()
    for piece in batches:
        table = pyarrow.Table.from_batches([piece])
        yield (table.append_column("part", pyarrow.array(np.full(piece.num_rows, part, np.int32)))
               .append_column("place", pyarrow.array(np.arange(place, place + piece.num_rows))))
        place += piece.num_rows
