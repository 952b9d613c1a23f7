"""Results as tables."""
from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _cognate

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Table:
    """A result as columns, with Arrow's interface: ``pyarrow.table(t)``, ``polars.DataFrame(t)`` and ``duckdb.sql("from
    t")`` take it without a copy.

    >>> import cognate
    >>> table = cognate.pairs(["a red apple a day", "a red apple a day", "rain"], measure="jaccard")
    >>> table.columns
    ['a', 'b', 'similarity', 'distance']
    >>> table["a"].tolist(), table["b"].tolist(), table["similarity"].tolist()
    ([0], [1], [1.0])
    >>> for a, b, similarity, distance in table:
    ...     print(a, b, similarity)
    0 1 1.0
    """

    def __init__(self, arrow: _cognate.ArrowTable, report: dict[str, Any] | str, skipped: list[int],
                 skipped_against: list[int] | None = None):
        self._arrow = arrow
        self._report = report  # kept as JSON until it is used: parsing it may take longer than a search
        #: Positions of the documents that were skipped: null, no valid text, an id that was used before.
        self.skipped = skipped
        #: The same of the second collection: ``against``, or the targets of ``link``.
        self.skipped_against: list[int] = [] if skipped_against is None else skipped_against

    @functools.cached_property
    def _names(self) -> list[str]:
        return self._arrow.names()

    @property
    def report(self) -> dict[str, Any]:
        """What the job did: counts, seconds and bytes per stage, settings, notices, measured recall."""
        if isinstance(self._report, str):
            self._report = json.loads(self._report)
        assert isinstance(self._report, dict)
        return self._report

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._names)

    def __len__(self) -> int:
        return len(self._arrow)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.rows()

    def __repr__(self) -> str:
        return f"<cognate.Table: {len(self)} rows of {', '.join(self._names)}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._arrow.__arrow_c_stream__(requested_schema)

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        """A column as a NumPy array. Numbers are a view of the table, with -1 for null; texts are str."""
        if name not in self._names:
            raise KeyError(f"no column {name!r}; there are {', '.join(self._names)}")
        number, rows = self._names.index(name), len(self)
        kind, _, values, texts = self._arrow.column(number)
        if kind == "+l":
            ends = np.frombuffer(values, np.int32)[:rows + 1].tolist()
            items = np.frombuffer(b"" if texts is None else texts, np.int64)
            lists = np.empty(rows, object)
            for row in range(rows):
                lists[row] = items[ends[row]:ends[row + 1]]
            return lists
        if kind == "U":
            return _texts(np.frombuffer(values, np.int64), bytes(texts) if texts is not None else b"")
        if kind == "b":
            return np.unpackbits(np.frombuffer(values, np.uint8), bitorder="little")[:rows].astype(bool)
        if kind.startswith("w:"):
            return np.frombuffer(values, np.uint8).reshape(rows, int(kind[2:]))
        column = np.frombuffer(values, {"l": np.int64, "i": np.int32, "g": np.float64}[kind])
        valid = self._valid(number)
        return column if valid is None else np.where(valid, column, -1).astype(column.dtype)

    def _valid(self, number: int) -> np.ndarray[Any, Any] | None:
        """Which rows of a column are not null; None: all."""
        validity = self._arrow.column(number)[1]
        return None if validity is None else np.unpackbits(
            np.frombuffer(validity, np.uint8), count=len(self), bitorder="little").astype(bool)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (len(self), [self._buffers(number) for number in range(len(self._names))], self.report, self.skipped,
                            self.skipped_against)

    def _buffers(self, number: int) -> tuple[str, str, int, bytes | None, bytes, bytes | None]:
        """A column as copies of its buffers."""
        kind, validity, values, texts = self._arrow.column(number)
        if kind == "+l":
            raise TypeError(f"the column {self._names[number]!r} has lists, which are not pickled: use to_arrow()")
        valid = self._valid(number)
        nulls = 0 if valid is None else len(self) - int(valid.sum())
        return (self._names[number], kind, nulls, None if validity is None else bytes(validity), bytes(values),
                None if texts is None else bytes(texts))

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """All columns as NumPy arrays."""
        return {name: self[name] for name in self._names}

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Row by row, with None for null."""
        lists = []
        for number, name in enumerate(self._names):
            values: list[Any] = self[name].tolist()
            valid = self._valid(number)
            if valid is not None:
                values = [value if there else None for value, there in zip(values, valid.tolist(), strict=True)]
            lists.append(values)
        return iter(zip(*lists, strict=True))

    def to_arrow(self) -> pyarrow.Table:
        """As a table of pyarrow, without a copy."""
        import pyarrow
        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a data frame of pandas."""
        import pandas
        columns: dict[str, Any] = {}
        for number, name in enumerate(self._names):
            columns[name], valid = self[name], self._valid(number)
            if valid is not None:
                columns[name] = pandas.arrays.IntegerArray(columns[name], ~valid)
        return pandas.DataFrame(columns)

    def to_polars(self) -> polars.DataFrame:
        """As a data frame of Polars, without a copy."""
        import polars
        return polars.DataFrame(self)


def _unpickled(rows: int, columns: list[Any], report: dict[str, Any], skipped: list[int],
               skipped_against: list[int]) -> Table:
    return Table(_cognate.table_of_columns(rows, columns), report, skipped, skipped_against)


def _texts(offsets: np.ndarray[Any, Any], data: bytes) -> np.ndarray[Any, Any]:
    ends = offsets.tolist()
    result = np.empty(len(ends) - 1, object)
    for i in range(len(ends) - 1):
        result[i] = data[ends[i]:ends[i + 1]].decode()
    return result
