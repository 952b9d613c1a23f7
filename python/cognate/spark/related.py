"""Related queries of a log on a cluster (Distributed LSH): vectors of clicked URLs, hash tables, the cosine of clicks."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _tables
from ._frames import numbered, plan_hash
from ._stages import Stage, Stages, hash_of
from .signatures import RECALL_ROWS, Method, join, name_rows

#: Those of the paper: keys of 16 bits, 10 tables, Distance Flip.
KNOBS = {"key_bits": 16, "tables": 10, "flips": 2, "flip_mode": 1}
_WEIGHTS: dict[str, Any] = {"weighting": "tf", "gaussian": True}


def related(log: Any, query: str = "query", url: str = "url", clicks: str = "clicks", *,
            queries: Iterable[str] | None = None, threshold: float = 0.7, min_urls: int = 6, method: Method = "lsh",
            recall: float = 0.95, bits: int = 1024, seed: int = 0, knobs: Mapping[str, int] | None = None,
            order: str | None = None, partitions: int | None = None, block_rows: int = _tables.BLOCK_ROWS,
            recall_rows: int = RECALL_ROWS, work: str | None = None, resume: bool = True, data: str | None = None,
            progress: Any = None, report: dict[str, Any] | None = None) -> Any:
    """Finds pairs of queries whose users clicked the same URLs: a, b, similarity, distance.

    The log has a query, a URL and clicks (without this column, each row is a click). With ``queries``, only neighbours
    of these are listed; they are compared with the whole log. The result is that of `cognate related` with the same
    settings and seed. Queries are in their own order, or with the column ``order`` in the order of their first rows, as
    in `cognate related`.
    """
    stages = Stages(log.sparkSession, work, resume=resume, progress=progress)
    name = hash_of(data or plan_hash(log), query, url, clicks, min_urls, order)
    documents, near = find_related(stages, grouped(log, query, url, clicks, min_urls, order), name, queries, method=method,
                                   threshold=threshold, recall=recall, bits=bits, seed=seed, knobs=knobs,
                                   partitions=partitions, block_rows=block_rows, recall_rows=recall_rows)
    result = name_rows(stages, documents, near)
    summary = stages.finish()
    if report is not None:
        report.update(summary)
    return result


def find_related(stages: Stages, vectors: Any, data: str, queries: Iterable[str] | None, *, method: Method = "lsh",
                 knobs: Mapping[str, int] | None = None, **options: Any) -> tuple[list[Stage], Stage]:
    """Numbered queries, and the pairs of their rows, from the rows of `grouped`."""
    from pyspark.sql import functions as f
    everything = numbered(stages, "queries", vectors, [f.col("ord")], "row", [data])
    documents = [everything]
    stages.note(queries=everything.rows)
    if queries is not None:
        given = sorted(set(queries))
        wanted = stages.spark.createDataFrame([(text,) for text in given], "id string")
        documents = [stages.table("given-queries", lambda: everything.table.join(wanted, "id", "left_semi"), [everything],
                                  given=given), everything]
        stages.note(given_queries=len(given), unknown_queries=len(given) - documents[0].rows)
    if knobs is None and method == "lsh":
        knobs = KNOBS
    return documents, join(stages, documents, method=method, knobs=knobs, same=len(documents) > 1,
                           **options, **_WEIGHTS)


def grouped(log: Any, query: str, url: str, clicks: str, min_urls: int, order: str | None) -> Any:
    """A row per query with enough URLs: its clicks are one line per URL, `url TAB clicks`. ``ord`` is its place."""
    from pyspark.sql import functions as f
    for name, what in ((query, "queries"), (url, "URLs"), (order, "order")):
        if name is not None and name not in log.columns:
            raise ValueError(f"no column {name!r} for the {what}; there are {', '.join(log.columns)}")
    has_clicks = clicks in log.columns
    whole = not has_clicks or log.schema[clicks].dataType.simpleString() in ("tinyint", "smallint", "int", "bigint")
    number = f.when(f.col(clicks) > 0, f.col(clicks)) if has_clicks else f.lit(1)
    place = f.col(query) if order is None else f.col(order)
    summed = log.select(f.col(query).alias("id"), f.col(url).alias("url"), number.alias("n"), place.alias("ord")).filter(
        "id != ''").groupBy("id", "url").agg(f.sum("n").alias("n"), f.min("ord").alias("ord"))
    number = f.col("n").cast("long" if whole else "decimal(38,9)").cast("string")
    line = f.when(f.expr("url != '' and n > 0"),  # a query has a place by its rows without a click, too
                  f.concat(f.translate("url", "\t\n\r", "   "), f.lit("\t"), number))
    own = summed.groupBy("id").agg(f.collect_list(line).alias("lines"), f.min("ord").alias("ord"))
    place = f.col("ord") if order is None else f.struct("ord", "id")
    return own.filter(f.size("lines") >= min_urls).select("id", f.concat_ws("\n", f.sort_array("lines")).alias("clicks"),
                                                          place.alias("ord"))
