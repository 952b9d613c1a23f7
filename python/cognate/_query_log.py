"""Query logs that come in: clicks of queries on URLs."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _cognate
from ._inputs import Array, Options, collected, is_arrow_path, is_path, read_arrow_paths, speaks_arrow, stream_of

Column = tuple[str, str, int, bytes | None, bytes, bytes | None]


def open_log(log: Any, options: Options) -> object:
    """A handle of the queries of a log: paths, a table, or rows of (query, url, clicks)."""
    paths = [log] if is_path(log) else list(log) if isinstance(log, (list, tuple)) else []
    if paths and all(is_path(path) for path in paths):
        return _open_paths([os.fspath(path) for path in paths], options)
    log = collected(log)
    if isinstance(log, Mapping) or not (isinstance(log, Iterable) or speaks_arrow(log)):
        raise TypeError("a query log is a path, a table with the columns query, url and clicks, or rows of them, not "
                        f"{type(log).__name__}")
    stream = stream_of(log)
    if stream is None and hasattr(log, "columns"):
        raise TypeError("a data frame of pandas goes in by way of Arrow: pip install pyarrow")
    if stream is None:
        stream = _table_of_rows(log).__arrow_c_stream__()
    return _cognate.from_stream(stream, _of_table(options))


def _open_paths(paths: list[str], options: Options) -> object:
    arrow = [is_arrow_path(path) for path in paths]
    if not any(arrow):
        return _cognate.from_paths(tuple(os.fsencode(path) for path in paths), {"format": "querylog", **options})
    if not all(arrow):
        raise ValueError("Parquet and other files do not mix in one call")
    return _cognate.from_stream(read_arrow_paths(paths).__arrow_c_stream__(), _of_table(options))


def _of_table(options: Options) -> Options:
    others = options.keys() - {"strict"}
    if others:
        raise TypeError(f"{min(others)} does not go with a table of a query log, whose columns are query, url and clicks")
    return {"format": "querylog", **options}


def _table_of_rows(rows: Iterable[Any]) -> _cognate.ArrowTable:
    queries: list[Any] = []
    urls: list[Any] = []
    clicks: list[Any] = []
    for row in rows:
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Iterable):
            raise TypeError(f"row {len(queries)}: a row is (query, url, clicks), or (query, url) for one click, not "
                            f"{row!r:.200}")
        values = tuple(row)
        if len(values) not in (2, 3):
            raise TypeError(f"row {len(queries)}: a row is (query, url, clicks), or (query, url) for one click, not "
                            f"{len(values)} values")
        queries.append(values[0])
        urls.append(values[1])
        clicks.append(values[2] if len(values) == 3 else 1)
    columns = [_text_column("query", queries), _text_column("url", urls), _number_column("clicks", clicks)]
    return _cognate.table_of_columns(len(queries), columns)


def _text_column(name: str, values: list[Any]) -> Column:
    """What is no valid text (lone surrogates) becomes bytes that the library skips."""
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"row {row}: a {name} is a str, or None if there is none, not {value!r:.200}")
    texts = [b"" if value is None else value.encode("utf-8", "surrogatepass") for value in values]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return _column(name, "U", np.array([value is None for value in values], bool), ends, b"".join(texts))


def _number_column(name: str, values: list[Any]) -> Column:
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            if isinstance(value, str):
                raise TypeError
            numbers[row] = 0 if value is None else value
        except (TypeError, ValueError):
            raise TypeError(f"row {row}: {name} are a number, or None, not {value!r:.200}") from None
    return _column(name, "g", np.array([value is None for value in values], bool), numbers, None)


def _column(name: str, kind: str, is_null: Array, values: Array, texts: bytes | None) -> Column:
    nulls = int(is_null.sum())
    validity = np.packbits(~is_null, bitorder="little").tobytes() if nulls else None
    return name, kind, nulls, validity, values.tobytes(), texts
