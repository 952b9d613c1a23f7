"""Cognate on Spark: the same C library inside the executors; Spark shuffles, sorts and recovers.

Needs pyspark 4 and pyarrow on the driver. Executors need a Python, and the archive that `archive` writes
(`docs/spark.md`).
"""
from ._archive import archive
from ._jobs import clusters, dedup, link, pairs
from ._plan import SparkPlan, plan
from ._stages import Stage, Stages
from .related import related

__all__ = ["SparkPlan", "Stage", "Stages", "archive", "clusters", "dedup", "link", "pairs", "plan", "related"]
