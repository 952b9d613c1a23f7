"""Measurements of Spark: shuffled bytes, and the peak memory of executors.

The numbers come from the status store of the driver's JVM, which exists with and without Spark's web page. Under Spark
Connect there is no such access, and every number is None.
"""
from __future__ import annotations

from typing import Any


class Metrics:
    """Counters of the session. Reading them costs some milliseconds per stage of Spark since the last reading. Bytes
    written again after an executor was lost count only if their stage is not older."""

    def __init__(self, spark: Any):
        try:
            self._context: Any = spark.sparkContext
        except Exception:  # Spark Connect has no context, and says so with an exception of its own
            self._context = None
        self._known: dict[tuple[int, int], int] = {}
        self._begin = 0  # all stages before this one are known

    def _store(self) -> Any:
        return self._context._jsc.sc().statusStore()

    def shuffled_bytes(self) -> int | None:
        """Bytes that all stages of the session so far have written for shuffles."""
        if self._context is None:
            return None
        jvm, gateway = self._context._jvm, self._context._gateway
        stages = self._store().stageList(None, False, False, gateway.new_array(jvm.double, 0), jvm.java.util.ArrayList())
        running, last, first_unfinished = 0, self._begin - 1, None
        for i in range(stages.size()):  # the newest first
            stage = stages.apply(i)
            number, written = int(stage.stageId()), int(stage.shuffleWriteBytes())
            if number < self._begin:
                break
            last = max(last, number)
            if str(stage.status()) in ("COMPLETE", "FAILED", "SKIPPED"):
                self._known[number, stage.attemptId()] = written
            else:
                running, first_unfinished = running + written, number
        self._begin = last + 1 if first_unfinished is None else first_unfinished
        return sum(self._known.values()) + running

    def executors(self) -> list[dict[str, Any]]:
        """For each executor: its id, and the peak memory of its JVM and of its Python workers in bytes, if known."""
        if self._context is None:
            return []
        result, executors = [], self._store().executorList(False)
        for i in range(executors.size()):
            executor = executors.apply(i)
            peaks = executor.peakMemoryMetrics()
            values = peaks.get() if peaks.isDefined() else None
            names = {"jvm": "ProcessTreeJVMRSSMemory", "python": "ProcessTreePythonRSSMemory", "heap": "JVMHeapMemory"}
            result.append({"id": executor.id(), **{name: int(values.getMetricValue(metric)) if values else None
                                                   for name, metric in names.items()}})
        return result
