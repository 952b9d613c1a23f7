"""What Spark has measured: bytes shuffled, and the peak memory of executors.

The numbers come from the status store of the driver's JVM, which Spark keeps with and without its web page. Under Spark
Connect there is no such access, and every number is None.
"""
from __future__ import annotations

from typing import Any


class Metrics:
    """Counters of the session. Reading them costs some milliseconds per finished stage of Spark."""

    def __init__(self, spark: Any):
        try:
            self._context: Any = spark.sparkContext
        except Exception:  # Spark Connect has no context, and says so with an exception of its own
            self._context = None
        self._known: dict[tuple[int, int], int] = {}

    def _store(self) -> Any:
        return self._context._jsc.sc().statusStore()

    def shuffled_bytes(self) -> int | None:
        """Bytes that all stages of the session so far have written for shuffles."""
        if self._context is None:
            return None
        jvm, gateway = self._context._jvm, self._context._gateway
        stages = self._store().stageList(None, False, False, gateway.new_array(jvm.double, 0), jvm.java.util.ArrayList())
        for i in range(stages.size()):
            stage = stages.apply(i)
            key = (stage.stageId(), stage.attemptId())
            if key not in self._known:
                written = int(stage.shuffleWriteBytes())
                if str(stage.status()) in ("COMPLETE", "FAILED", "SKIPPED"):
                    self._known[key] = written
                else:
                    return sum(self._known.values()) + written
        return sum(self._known.values())

    def executors(self) -> list[dict[str, Any]]:
        """Of each executor: its id, and the peak memory of its JVM and of its Python workers in bytes, where known."""
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
