"""Query logs on a cluster: lines as rows of query, url and clicks, as one machine reads them."""
from __future__ import annotations

import re
from typing import Any

_HEADER = r"^(?i:query\turl\tclicks)$|^AnonID\t"
_AOL = r"^AnonID\t|^[0-9]+(\t[^\t]*){4}$|^[0-9]+\t[^\t]*\t[0-9]{4}-[0-9]{2}-[^\t]{3,}$"
_CLICKS = r"^([0-9]+[.]?[0-9]*|[.][0-9]+)$"
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def read(lines: Any) -> tuple[Any, int]:
    """The rows (_row, query, url, clicks) of lines (_row, value), and the number of bad lines, which are skipped.

    The first line decides the columns: query, url, clicks, or those of AOL (AnonID, Query, QueryTime, ItemRank,
    ClickURL, of which the last two may be missing).
    """
    from pyspark.sql import functions as f
    line, fields = f.col("value"), f.split("value", "\t", -1)
    lines = lines.select("_row", f.regexp_replace("value", r"\r$", "").alias("value")).filter("value != ''")
    first = lines.orderBy("_row").select("value").head(1)
    if first and re.match(_AOL, first[0]["value"]):
        good = f.size(fields).isin(3, 5)
        query, url, clicks = f.get(fields, f.lit(1)), f.coalesce(f.get(fields, f.lit(4)), f.lit("")), f.lit(1)
    else:
        number = f.get(fields, f.lit(2))
        good = (f.size(fields) == 3) & number.rlike(_CLICKS) & (f.length(number) <= 30)
        query, url, clicks = f.get(fields, f.lit(0)), f.get(fields, f.lit(1)), number.try_cast("decimal(38,9)")
    rows = lines.filter(~line.rlike(_HEADER)).select("_row", f.when(good, query).alias("query"), url.alias("url"),
                                                     clicks.alias("clicks"))
    return rows.filter("query != ''"), rows.filter("query is null or query = ''").count()


def read_queries(path: str) -> list[str]:
    """The lines of a file, in which tabs, line ends and backslashes are escaped as in results."""
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = (line.removesuffix("\n").removesuffix("\r") for line in file)
        return [re.sub(r"\\([tnr\\])", lambda found: _ESCAPED[found[1]], line) for line in lines if line]
