"""Related queries of a log on a cluster (Distributed LSH): vectors of clicked URLs, hash tables, the cosine of clicks."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import batch
from . import _tables
from ._stages import Stages
from .signatures import RECALL_ROWS, Method, Settings, _data_of, find_pairs, name_rows, number_rows

#: Those of the paper: keys of 16 bits, 10 tables, Distance Flip.
KNOBS = {"key_bits": 16, "tables": 10, "flips": 2, "flip_mode": 1}
_WEIGHTS = {"weighting": "tf", "gaussian": True}


def related(log: Any, query: str = "query", url: str = "url", clicks: str = "clicks", *,
            queries: Iterable[str] | None = None, threshold: float = 0.7, min_urls: int = 6, method: Method = "lsh",
            recall: float = 0.95, bits: int = 1024, seed: int = 0, knobs: Mapping[str, int] | None = None,
            partitions: int | None = None, block_rows: int = _tables.BLOCK_ROWS, recall_rows: int = RECALL_ROWS,
            work: str | None = None, resume: bool = True, data: str | None = None, progress: Any = None,
            report: dict[str, Any] | None = None) -> Any:
    """Pairs of queries whose users clicked the same URLs: a, b, similarity, distance.

    The log has a query, a URL and clicks (or no such column: a row is a click). With ``queries``, the neighbours of these
    alone, which are compared with the whole log. As `cognate related`, with the same settings and seed.
    """
    spark = log.sparkSession
    stages = Stages(spark, work, resume=resume, progress=progress)
    name = data or _data_of(log)
    everything = number_rows(stages, _grouped(log, query, url, clicks, min_urls), f"{name} {min_urls}", "queries")
    documents = [everything]
    if queries is not None:
        given = sorted(set(queries))
        wanted = spark.createDataFrame([(text,) for text in given], "id string")
        documents = [stages.table("given-queries", lambda: everything.table.join(wanted, "id", "left_semi"), [everything],
                                  given=given), everything]
        stages.note(given_queries=len(given), unknown_queries=len(given) - documents[0].rows)
    rows = [stage.rows for stage in documents]
    plan = batch.plan_join(rows[0], rows[1] if len(rows) > 1 else 0, method=method, threshold=threshold, recall=recall,
                           bits=bits, knobs=KNOBS if knobs is None and method == "lsh" else knobs)
    settings = Settings(plan, bits, seed, _WEIGHTS, len(rows) > 1, 0, len(rows) > 1)
    stages.note(queries=everything.rows, method=method, threshold=threshold, tables=plan.tables, key_bits=plan.key_bits,
                flips=plan.flips, radius_bits=plan.radius, expected_comparisons=plan.comparisons)
    near = find_pairs(stages, documents, settings, rows, recall_rows=recall_rows, block_rows=block_rows,
                      partitions=partitions or int(spark.conf.get("spark.sql.shuffle.partitions")))
    result = name_rows(stages, documents, near)
    summary = stages.finish()
    if report is not None:
        report.update(summary)
    return result


def _grouped(log: Any, query: str, url: str, clicks: str, min_urls: int) -> Any:
    """A row per query with enough URLs: its text has a line for each, with the clicks."""
    from pyspark.sql import functions as f
    for name, what in ((query, "queries"), (url, "URLs")):
        if name not in log.columns:
            raise ValueError(f"no column {name!r} for the {what}; there are {', '.join(log.columns)}")
    has_clicks = clicks in log.columns
    whole = not has_clicks or log.schema[clicks].dataType.simpleString() in ("tinyint", "smallint", "int", "bigint")
    number = f.col(clicks) if has_clicks else f.lit(1)
    summed = log.select(f.col(query).alias("id"), f.col(url).alias("url"), number.alias("n")).filter(
        "id != '' and url != '' and n > 0").groupBy("id", "url").agg(f.sum("n").alias("n"))
    line = f.concat("url", f.lit("\t"), f.col("n").cast("long" if whole else "decimal(38,9)").cast("string"))
    lines = f.concat_ws("\n", f.sort_array(f.collect_list(line)))
    return summed.groupBy("id").agg(f.count(f.lit(1)).alias("urls"), lines.alias("clicks")).filter(
        f"urls >= {min_urls}").select("id", "clicks")
