"""Files as documents: Parquet, JSON lines and lines of text, numbered in the order of the input.

A record is identified by its file, the part of the file that one task reads, and its place there. The numbers of
records in all parts, summed in the order of arguments, file names and parts, give each record its row, the position
that it has on one machine.
"""
from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._arrow import map_partitions
from ._frames import Documents
from ._stages import Stages, hash_of

if TYPE_CHECKING:
    import pyarrow

_COMPRESSED = (".gz", ".bz2", ".zst")
_KINDS = {".parquet": "parquet", ".pq": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".txt": "txt"}


class Files:
    """The records of files: row, name (file and line), and either all columns or `value`, the line."""

    def __init__(self, stages: Stages, paths: list[str], format: str, lines: bool, fields: dict[str, str],
                 name: str = "records"):
        kinds = {format if format != "auto" else _kind(path) for path in paths}
        if len(kinds) > 1:
            raise ValueError(f"{', '.join(sorted(kinds))} do not mix in one job")
        self.kind, self.fields, self.paths = kinds.pop(), fields, paths
        if self.kind == "txt" and not lines:
            raise ValueError("text on Spark is one document per line: say so with --lines, or give JSON lines or Parquet")
        self.stages, self.name = stages, name
        self.data = hash_of(self.kind, [_facts(stages.spark, path) for path in paths])
        self.records = self._read()

    def _read(self) -> Any:
        from pyspark.sql import functions as f
        parts = [self._read_path(number, path) for number, path in enumerate(self.paths)]
        frame = parts[0]
        for part in parts[1:]:
            frame = frame.unionByName(part)
        if self.kind != "parquet":
            frame = self.stages.table(self.name, lambda: map_partitions(
                frame, _place_lines, "arg int, file string, block long, place long, value string"), [self.data]).table
        sizes = self.stages.table(f"{self.name}-parts", lambda: frame.groupBy("arg", "file", "block").count(), [self.data])
        begins = self._begins(sizes.table.collect())
        return frame.join(f.broadcast(begins), ["arg", "file", "block"]).withColumn(
            "_row", f.col("begin") + f.col("place")).withColumn(
            "_name", f.concat("label", f.lit(":"), (f.col("line") + f.col("place") + 1).cast("string"))).drop(
            "arg", "file", "block", "place", "begin", "line", "label")

    def _read_path(self, number: int, path: str) -> Any:
        from pyspark.sql import functions as f
        reader = self.stages.spark.read
        if self.kind == "parquet":
            frame = reader.parquet(path)
            return frame.select(*frame.columns, f.lit(number).alias("arg"), f.col("_metadata.file_path").alias("file"),
                                f.lit(0).cast("long").alias("block"), f.col("_metadata.row_index").alias("place"))
        frame = reader.option("lineSep", "\n").option("recursiveFileLookup", "true").text(path)
        return frame.select(f.lit(number).alias("arg"), f.col("_metadata.file_path").alias("file"),
                            f.col("_metadata.file_block_start").alias("block"), "value")

    def _begins(self, sizes: list[Any]) -> Any:
        """Where each part begins, in rows and in lines of its file, and the name of the file."""
        rows, row, line, last = [], 0, 0, None
        for part in sorted(sizes, key=lambda part: (part["arg"], part["file"].encode(), part["block"])):
            line = line if (part["arg"], part["file"]) == last else 0
            last = (part["arg"], part["file"])
            rows.append((part["arg"], part["file"], part["block"], row, line, self._label(part["arg"], part["file"])))
            row += part["count"]
            line += part["count"]
        return self.stages.spark.createDataFrame(
            rows or [(0, "", 0, 0, 0, "")], "arg int, file string, block long, begin long, line long, label string")

    def _label(self, number: int, file: str) -> str:
        """A file's name in results: the argument, or in a folder the path below it."""
        path = self.paths[number]
        base = pathlib.Path(path).absolute().as_uri() if "://" not in path else path.rstrip("/")
        below = file.removeprefix("file:///" if file.startswith("file:///") else "file:/")
        root = base.removeprefix("file:///")
        if below == root or not below.startswith(root + "/"):
            return path if below == root else file
        inside = below[len(root) + 1:]
        return inside if len(self.paths) == 1 else f"{path.rstrip('/')}/{inside}"

    def documents(self, keep: str | None = None) -> Documents:
        """The records as documents, named by their rows."""
        return Documents(self._with_text(keep), "_text", "_row", lang="_lang", keep="_keep" if keep else None,
                         data=self.data + hash_of(self.fields, keep), is_numbered=True)

    def _with_text(self, keep: str | None) -> Any:
        from pyspark.sql import functions as f
        if self.kind == "txt":
            if keep:
                raise ValueError("lines of text have no fields to keep by")
            return self.records.select("_row", f.col("value").alias("_text"))
        if self.kind == "parquet":
            if self.fields["text"] not in self.records.columns:
                names = [name for name in self.records.columns if name not in ("_row", "_name")]
                raise ValueError(f"no column {self.fields['text']!r}; there are {', '.join(names)}: name the column that "
                                 "has the texts with --text-field")
            given = self.records
            columns = {"_text": self.fields["text"], "_lang": self.fields["lang"], "_keep": keep}
        else:
            given = self.records.withColumn("_json", self._json([self.fields["text"], self.fields["lang"], keep]))
            columns = {"_text": "t0", "_lang": "t1", "_keep": "t2"}
            given = given.select("_row", *(f.col(f"_json.`{name}`").alias(f"t{i}") for i, name in
                                           enumerate([self.fields["text"], self.fields["lang"], keep]) if name))
            if keep:
                given = given.withColumn("t2", f.expr("try_cast(t2 as double)"))
        return given.select("_row", *(f.col(source).alias(name) for name, source in columns.items()
                                      if source and source in given.columns))

    def _json(self, names: list[str | None]) -> Any:
        from pyspark.sql import functions as f
        from pyspark.sql.types import StringType, StructField, StructType
        fields = [StructField(name, StringType()) for name in dict.fromkeys(names) if name]
        return f.from_json("value", StructType(fields))

    def names(self, docs: Any) -> Any:
        """The names of documents: doc, name. The id field's value, or file and line."""
        from pyspark.sql import functions as f
        wanted = self.records.join(docs.select(f.col("doc").alias("_row")).distinct(), "_row", "left_semi")
        field = self.fields["id"]
        if self.kind == "jsonl":
            name = f.coalesce(self._json([field])[field], f.col("_name"))
        elif self.kind == "parquet" and field in self.records.columns:
            name = f.coalesce(f.col(field).cast("string"), f.col("_name"))
        else:
            name = f.col("_name")
        return wanted.select(f.col("_row").alias("doc"), name.alias("name"))

    def write(self, documents: Documents, gone: Any, folder: str) -> None:
        """Writes the kept records in input order."""
        from pyspark.sql import functions as f
        good = documents.source.filter(f.col("_text").isNotNull()).select("_row")
        kept = self.records.join(gone.select(f.col("doc").alias("_row")), "_row", "left_anti")
        kept = kept.join(good, "_row", "left_semi") if self.kind == "jsonl" else kept
        ordered = kept.orderBy("_row").drop("_row", "_name")
        if self.kind == "parquet":
            ordered.filter(f.col(self.fields["text"]).isNotNull()).write.parquet(folder)
        else:
            ordered.write.option("lineSep", "\n").text(folder)


def _kind(path: str) -> str:
    name = path.rstrip("/")
    for end in _COMPRESSED:
        name = name.removesuffix(end)
    found = _KINDS.get(os.path.splitext(name)[1])
    if found is None and os.path.isdir(path):
        inside = {_KINDS.get(file.suffix) for file in pathlib.Path(path).rglob("*") if file.is_file()} - {None}
        found = inside.pop() if len(inside) == 1 else None
    if found is None:
        raise ValueError(f"{path}: the format is not clear from the name: say it with --input-format")
    return found


def _facts(spark: Any, path: str) -> list[Any]:
    """Names, sizes and times of the files of a path."""
    rows = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(path).select(
        "path", "length", "modificationTime").collect()
    return sorted((row["path"], row["length"], str(row["modificationTime"])) for row in rows)


def _place_lines(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.Table]:
    """Numbers the lines of each part of a file. A task may read several parts, one after another."""
    import numpy as np
    import pyarrow
    import pyarrow.compute
    places: dict[tuple[Any, ...], int] = {}
    for piece in batches:
        table = pyarrow.Table.from_batches([piece])
        blocks = table["block"].to_numpy()
        files = table["file"].combine_chunks().dictionary_encode().indices.to_numpy()
        changed = np.flatnonzero((np.diff(blocks) != 0) | (np.diff(files) != 0)) + 1
        place = np.empty(len(blocks), np.int64)
        for begin, end in zip([0, *changed.tolist()], [*changed.tolist(), len(blocks)], strict=True):
            key = (table["arg"][begin].as_py(), table["file"][begin].as_py(), int(blocks[begin]))
            start = places.get(key, 0)
            place[begin:end] = np.arange(start, start + end - begin)
            places[key] = start + end - begin
        yield table.add_column(3, "place", pyarrow.array(place))
