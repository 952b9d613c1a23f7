"""The base of all binary indexes, and the flat index, which compares all rows."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._index import Index
from .._inputs import Array

_FARTHEST = np.iinfo(np.int32).max


class IDSelectorRange:
    """The labels from imin to imax - 1."""

    def __init__(self, imin: int, imax: int):
        self.imin, self.imax = imin, imax

    def chosen(self, labels: Array) -> Array:
        """Which of the labels it has."""
        inside: Array = (labels >= self.imin) & (labels < self.imax)
        return inside


class IDSelectorBatch:
    """The given labels."""

    def __init__(self, indices: Any):
        self.indices = np.asarray(indices, np.int64).ravel()

    def chosen(self, labels: Array) -> Array:
        """Which of the labels it has."""
        return np.isin(labels, self.indices)


class IndexBinary:
    """The base of all binary indexes. Codes are uint8 [rows, d / 8]."""

    def __init__(self, d: int):
        if d <= 0 or d % 8:
            raise ValueError(f"{d} bits: choose a multiple of 8")
        self.d = d
        self.code_size = d // 8
        self.is_trained = True

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        raise NotImplementedError

    def _checked(self, x: Any) -> Array:
        array = np.ascontiguousarray(x)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != self.code_size:
            raise ValueError(f"codes are uint8 [rows, {self.code_size}]")
        return array

    def _hits(self, queries: Array, k: int, radius: int | None) -> tuple[Array, Array, Array]:
        """Queries, labels and distances by query and distance: the k nearest (0: all) within the radius."""
        raise NotImplementedError

    def add(self, x: Any) -> None:
        """Adds rows."""
        raise NotImplementedError

    def reset(self) -> None:
        """Removes all rows."""
        raise NotImplementedError

    def train(self, x: Any) -> None:
        """Does nothing: there is nothing to learn."""
        self._checked(x)

    def assign(self, x: Any, k: int = 1, labels: Array | None = None) -> Array:
        """The labels that search finds, into `labels` if that is given."""
        found = self.search(x, k)[1]
        found = found[:, 0] if k == 1 else found
        if labels is not None:
            labels[:] = found.reshape(labels.shape)
        return found if labels is None else labels

    def search(self, x: Any, k: int) -> tuple[Array, Array]:
        """Distances, int32 [queries, k], and labels, int64 [queries, k], with -1 where there are no more."""
        queries = self._checked(x)
        if k <= 0:
            raise ValueError(f"k of {k}: choose 1 or more")
        distances = np.full((len(queries), k), _FARTHEST, np.int32)
        labels = np.full((len(queries), k), -1, np.int64)
        if self.ntotal and len(queries):
            query, label, distance = self._hits(queries, min(k, self.ntotal), None)
            firsts = np.searchsorted(query, np.arange(len(queries)))
            place = query, np.arange(len(query)) - firsts[query]
            distances[place], labels[place] = distance, label
        return distances, labels

    def range_search(self, x: Any, radius: int) -> tuple[Array, Array, Array]:
        """All rows nearer than the radius: limits [queries + 1], distances, labels."""
        queries = self._checked(x)
        limits = np.zeros(len(queries) + 1, np.int64)
        if not self.ntotal or not len(queries) or radius <= 0:
            return limits, np.empty(0, np.int32), np.empty(0, np.int64)
        query, label, distance = self._hits(queries, 0, int(radius) - 1)
        limits[1:] = np.bincount(query, minlength=len(queries)).cumsum()
        return limits, distance.astype(np.int32), label


def selected(which: Any, labels: Array) -> Array:
    """Which labels a selector, or an array of labels, has."""
    selector = which if hasattr(which, "chosen") else IDSelectorBatch(which)
    chosen: Array = selector.chosen(labels)
    return chosen


class IndexBinaryFlat(IndexBinary):
    """All rows are compared; labels are their positions."""

    def __init__(self, d: int):
        super().__init__(d)
        self._index: Index | None = None
        self._rows: list[Array] = []

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        return sum(len(rows) for rows in self._rows)

    def add(self, x: Any) -> None:
        """Adds rows, which are copied."""
        rows = self._checked(x).copy()
        if not len(rows):
            return
        if self._index is None:
            self._index = Index.build(rows, method="flat")
        else:
            self._index.add(rows)
        self._rows.append(rows)

    def reset(self) -> None:
        """Removes all rows."""
        self._index, self._rows = None, []

    def remove_ids(self, which: Any) -> int:
        """Removes rows by a selector or an array of positions; later rows move up. Returns the number of removed
        rows."""
        rows = self.reconstruct_n(0, self.ntotal)
        gone = selected(which, np.arange(len(rows)))
        if gone.any():
            self.reset()
            self.add(rows[~gone])
        return int(gone.sum())

    def reconstruct(self, key: int) -> Array:
        """A row."""
        row: Array = self.reconstruct_n(key, 1)[0]
        return row

    def reconstruct_n(self, n0: int, ni: int) -> Array:
        """Rows n0 to n0 + ni."""
        if not 0 <= n0 <= n0 + ni <= self.ntotal:
            raise RuntimeError(f"there are no rows {n0} to {n0 + ni}")
        if len(self._rows) > 1:
            self._rows = [np.concatenate(self._rows)]
        rows = self._rows[0] if self._rows else np.empty((0, self.code_size), np.uint8)
        part: Array = rows[n0:n0 + ni].copy()
        return part

    def _hits(self, queries: Array, k: int, radius: int | None) -> tuple[Array, Array, Array]:
        assert self._index is not None
        hits = self._index.search(queries, k=k or None, radius=radius, method="flat", recall=1)
        return hits["query"], hits["row"], hits["distance"]
