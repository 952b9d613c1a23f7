"""Stages: the intermediate tables of a job, which a later run reuses.

A stage is a Parquet table in the work folder. Its name ends in a hash of its settings and of the stages and data that
it is made from, so only a job that would make the same table reuses it. A second, tiny table whose name ends in
``.done`` marks the stage as complete and records its cost; a stage without it is made again. Spark reads and writes
both: the work folder may be on any file system that all executors and the driver share, and it works under Spark
Connect.
"""
from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._metrics import Metrics

_HASH_DIGITS = 16


def hash_of(*parts: object) -> str:
    """A hash of settings: anything that JSON can hold.

    >>> hash_of("sets", {"ngram": 3, "tokens": "words"}) == hash_of("sets", {"tokens": "words", "ngram": 3})
    True
    """
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


class Stage:
    """A finished stage: its table, the hash in its name, and facts about it."""

    def __init__(self, table: Any, hash: str, facts: dict[str, Any]):
        self.table = table
        self.hash = hash
        self.facts = facts

    @property
    def rows(self) -> int:
        return int(self.facts["rows"])


class Stages:
    """Makes the stages of one job, or takes them from the work folder."""

    def __init__(self, spark: Any, work: str | None = None, *, resume: bool = True,
                 progress: bool | Callable[[str, int, int], object] | None = None):
        self.spark = spark
        self.resume = resume and work is not None
        self.is_temporary = work is None
        self.work = work or tempfile.mkdtemp(prefix="cognate-spark-", dir=spark.conf.get("spark.cognate.work", None))
        if self.is_temporary:
            atexit.register(self.clear)  # results are read from it as long as the program runs
        self.metrics = Metrics(spark)
        self._is_seen = False  # whether the driver has read what executors wrote
        self._progress = _line if progress is True else progress or None
        #: What the job did: counts that stages note, and the seconds, rows and shuffled bytes of each stage.
        self.report: dict[str, Any] = {"stages": []}

    def table(self, name: str, make: Callable[[], Any], inputs: Iterable[Stage | str] = (),
              measures: Mapping[str, str] | None = None, **settings: Any) -> Stage:
        """The stage of this name: found, or made by ``make``, which returns a DataFrame.

        ``inputs`` are the stages (or hashes of data) that it is made from, ``settings`` everything else that it depends
        on. ``measures``: aggregates of the table, in SQL, which become facts of the stage while it is written.
        """
        hash = hash_of(name, settings, [part.hash if isinstance(part, Stage) else part for part in inputs], measures)
        path = f"{self.work.rstrip('/')}/{name}-{hash}"
        facts = self._find(path) if self.resume else None
        if facts is None:
            if self._progress:
                self._progress(name, 0, 0)
            facts = self._make(path, make, measures or {})
            facts["resumed"] = False
        self.report["stages"].append({"stage": name, **facts})
        if self._progress:
            self._progress(name, facts["rows"], facts["rows"])
        return Stage(self.spark.read.schema(facts["schema"]).parquet(path), hash, facts)

    def _find(self, path: str) -> dict[str, Any] | None:
        try:
            lines = self.spark.read.text(path + ".done").collect()
            facts: dict[str, Any] = json.loads(lines[0][0])
        except Exception as error:  # the exception depends on the file system and on Spark Connect
            if "PATH_NOT_FOUND" in str(error) or isinstance(error, (IndexError, ValueError)):
                return None
            raise
        return {**facts, "seconds": 0.0, "resumed": True}

    def _make(self, path: str, make: Callable[[], Any], measures: Mapping[str, str]) -> dict[str, Any]:
        from pyspark.sql import Observation, functions
        start, before = time.monotonic(), self.metrics.shuffled_bytes()
        if not self.resume and not self.is_temporary:
            self._mark(path, [])  # what an earlier job has made goes with the first task
        observed = Observation()
        frame = make()
        aggregates = {"rows": "count(1)", **measures}
        frame.observe(observed, *(functions.expr(measure).alias(name) for name, measure in aggregates.items())).write.mode(
            "overwrite").parquet(path)
        measured = observed.get
        rows = int(measured["rows"])
        if rows and not self._is_seen and not self.spark.read.schema(frame.schema).parquet(path).head(1):
            raise OSError(f"{path}: the executors wrote rows that the driver does not see: give a work folder that all "
                          "machines of the cluster share")
        self._is_seen |= rows > 0
        after = self.metrics.shuffled_bytes()
        facts = {**measured, "rows": rows, "seconds": round(time.monotonic() - start, 3), "schema": _ddl(frame.schema),
                 "shuffled_bytes": None if after is None or before is None else after - before}
        if not self.is_temporary:
            self._mark(path, [(json.dumps(facts),)])
        return facts

    def _mark(self, path: str, lines: list[tuple[str]]) -> None:
        """Marks a stage as complete by a line with its facts; without a line it is not."""
        self.spark.createDataFrame(lines, "value string").coalesce(1).write.mode("overwrite").text(path + ".done")

    def note(self, **counts: Any) -> None:
        """Adds counts to the report."""
        self.report.update(counts)

    def finish(self) -> dict[str, Any]:
        """The report, with the sums over all stages."""
        stages = self.report["stages"]
        shuffled = [stage["shuffled_bytes"] for stage in stages if not stage["resumed"]]
        self.report["seconds"] = round(sum(stage["seconds"] for stage in stages), 3)
        self.report["shuffled_bytes"] = None if None in shuffled else sum(shuffled)
        for stage in stages:
            stage.pop("schema", None)
        return self.report

    def clear(self) -> None:
        """Removes a temporary work folder. Tables made from it cannot be read afterwards."""
        if self.is_temporary and os.path.isdir(self.work):
            shutil.rmtree(self.work, ignore_errors=True)


def _ddl(schema: Any) -> str:
    return ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in schema.fields)


def _line(stage: str, done: int, total: int) -> None:
    print(f"{stage}: {done} rows" if total else f"{stage} ...", file=sys.stderr, flush=True)
