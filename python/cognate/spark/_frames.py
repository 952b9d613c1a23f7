"""DataFrames as documents: which column is what, and the order of the input."""
from __future__ import annotations

from typing import Any

from ._stages import Stage, Stages, hash_of

_INTEGERS = ("tinyint", "smallint", "int", "bigint")


class Documents:
    """A DataFrame with the columns that jobs use: doc (a number of the document), id, ord, keep, text, lang.

    ``ord`` is the order of the input: that of the column ``order``, with ties by id, or of the ids alone.
    """

    def __init__(self, frame: Any, text: str, id: str, order: str | None = None, lang: str | None = None,
                 keep: str | None = None, data: str | None = None):
        from pyspark.sql import functions as f
        names = frame.columns
        for name, what in ((text, "texts"), (id, "ids"), (order, "order"), (keep, "values to keep by")):
            if name is not None and name not in names:
                raise ValueError(f"no column {name!r} for the {what}; there are {', '.join(names)}")
        kind = frame.schema[id].dataType.simpleString()
        self.source, self.text, self.id = frame, text, id
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
        self.data = data or _plan_hash(self.frame)

    def order(self, falling: bool = False) -> list[Any]:
        """The order of the input, as columns to sort by."""
        from pyspark.sql import functions as f
        return [f.col("ord").desc() if falling else f.col("ord")]

    def check_ids(self, stages: Stages, sets: Stage) -> None:
        """Refuses ids that name two documents."""
        from pyspark.sql import functions as f

        def make() -> Any:
            return sets.table.groupBy("doc").agg(f.count(f.lit(1)).alias("times"), f.min("id").alias("id"),
                                                 f.max("id").alias("other")).filter("times > 1").limit(10)
        double = stages.table("double-ids", make, [sets]).table.head(1)
        if double and double[0]["id"] == double[0]["other"]:
            raise ValueError(f"the id {double[0]['id']!r} is that of {double[0]['times']} documents: ids must be unique; "
                             "drop the rows that repeat, or name another column")
        if double:
            raise ValueError(f"the ids {double[0]['id']!r} and {double[0]['other']!r} have the same hash: rename one of "
                             "them, or give numbers as ids")

    def rows_without(self, gone: Any) -> Any:
        """The rows of the source that have a text and whose doc is not among these."""
        from pyspark.sql import functions as f
        keyed = self.source.withColumn("_cognate_doc", self.doc).filter(f.col(self.text).isNotNull())
        return keyed.join(gone.select(f.col("doc").alias("_cognate_doc")), "_cognate_doc", "left_anti").select(
            *self.source.columns)


def _plan_hash(frame: Any) -> str:
    """A hash of where a DataFrame comes from: files with their times, and what is done with them."""
    try:
        files = sorted(frame.inputFiles())
    except Exception:  # not every source has files
        files = []
    plan = frame._jdf.queryExecution().analyzed().canonicalized().toString() if hasattr(frame, "_jdf") else str(
        frame.schema.simpleString())
    return hash_of(plan, files)
