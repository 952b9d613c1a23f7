"""Binary indexes by the names of faiss.

>>> import numpy as np
>>> from cognate.compat import faiss
>>> index = faiss.IndexBinaryFlat(64)
>>> index.add(np.array([[0] * 8, [255] * 8, [1] + [0] * 7], np.uint8))
>>> distances, labels = index.search(np.zeros((1, 8), np.uint8), 2)
>>> distances.tolist(), labels.tolist()
([[0, 1]], [[0, 2]])

Differences: answers are exact for every kind of index, so that nprobe, nflip and the training of IVF change nothing; equal
distances come in the order of the rows; indexes are written as .npy files of their rows.
"""
from __future__ import annotations

import io
import types
from typing import Any

import numpy as np

from .._index import Index
from .._inputs import Array

_FARTHEST = np.iinfo(np.int32).max


class IndexBinary:
    """What all binary indexes of faiss have."""

    def __init__(self, d: int):
        if d <= 0 or d % 8:
            raise ValueError(f"{d} bits: choose a multiple of 8")
        self.d = d
        self.code_size = d // 8
        self.is_trained = True
        self._index: Index | None = None
        self._rows: list[Array] = []

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        return sum(len(rows) for rows in self._rows)

    def _checked(self, x: Any) -> Array:
        array = np.ascontiguousarray(x)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != self.code_size:
            raise ValueError(f"codes are uint8 [rows, {self.code_size}]")
        return array

    def train(self, x: Any) -> None:
        """Nothing has to be learnt."""
        self._checked(x)

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

    def reconstruct(self, key: int) -> Array:
        """A row."""
        if not 0 <= key < self.ntotal:
            raise RuntimeError(f"there is no row {key}")
        for rows in self._rows:
            if key < len(rows):
                break
            key -= len(rows)
        found: Array = rows[key].copy()
        return found

    def reconstruct_n(self, n0: int, ni: int) -> Array:
        """Rows n0 to n0 + ni."""
        if not 0 <= n0 <= n0 + ni <= self.ntotal:
            raise RuntimeError(f"there are no rows {n0} to {n0 + ni}")
        rows = np.concatenate([np.empty((0, self.code_size), np.uint8), *self._rows])
        part: Array = rows[n0:n0 + ni].copy()
        return part

    def assign(self, x: Any, k: int = 1, labels: Array | None = None) -> Array:
        """The rows that search finds, into `labels` if that is given."""
        found = self.search(x, k)[1]
        found = found[:, 0] if k == 1 else found
        if labels is not None:
            labels[:] = found.reshape(labels.shape)
        return found if labels is None else labels

    def search(self, x: Any, k: int) -> tuple[Array, Array]:
        """Distances, int32 [queries, k], and rows, int64 [queries, k], with -1 where there are no more."""
        queries = self._checked(x)
        if k <= 0:
            raise ValueError(f"k of {k}: choose 1 or more")
        distances = np.full((len(queries), k), _FARTHEST, np.int32)
        labels = np.full((len(queries), k), -1, np.int64)
        if self._index is not None and len(queries):
            hits = self._index.search(queries, k=min(k, self.ntotal), method="flat", recall=1)
            place = hits["query"], hits["rank"] - 1
            distances[place], labels[place] = hits["distance"], hits["row"]
        return distances, labels

    def range_search(self, x: Any, radius: int) -> tuple[Array, Array, Array]:
        """All rows nearer than the radius: limits [queries + 1], distances, rows."""
        queries = self._checked(x)
        limits = np.zeros(len(queries) + 1, np.int64)
        if self._index is None or not len(queries) or radius <= 0:
            return limits, np.empty(0, np.int32), np.empty(0, np.int64)
        hits = self._index.search(queries, radius=int(radius) - 1, recall=1)
        limits[1:] = np.bincount(hits["query"], minlength=len(queries)).cumsum()
        return limits, hits["distance"].astype(np.int32), hits["row"]


class IndexBinaryFlat(IndexBinary):
    """All rows are compared."""


class IndexBinaryIVF(IndexBinary):
    """An inverted file; here all rows are compared."""

    def __init__(self, quantizer: Any, d: int, nlist: int):
        super().__init__(d)
        self.quantizer, self.nlist, self.nprobe = quantizer, nlist, 1
        self.cp = types.SimpleNamespace()  # settings of a clustering that there is not

    def make_direct_map(self) -> None:
        """Rows can always be had by their numbers."""


class IndexBinaryHash(IndexBinary):
    """Buckets by b bits; here all rows are compared."""

    def __init__(self, d: int, b: int):
        super().__init__(d)
        self.b, self.nflip = b, 0


def write_index_binary(index: IndexBinary, path: str) -> None:
    """Writes the rows as a .npy file of signatures, which the program `cognate` reads too."""
    with open(path, "wb") as file:
        np.save(file, index.reconstruct_n(0, index.ntotal))


def serialize_index_binary(index: IndexBinary) -> Array:
    """The bytes of write_index_binary, uint8."""
    file = io.BytesIO()
    np.save(file, index.reconstruct_n(0, index.ntotal))
    return np.frombuffer(file.getvalue(), np.uint8)


def deserialize_index_binary(data: Array) -> IndexBinaryFlat:
    """An index of such bytes."""
    return _index_of(np.load(io.BytesIO(data.tobytes())))


def read_index_binary(path: str) -> IndexBinaryFlat:
    """An index that write_index_binary has written."""
    return _index_of(np.load(path))


def _index_of(rows: Array) -> IndexBinaryFlat:
    index = IndexBinaryFlat(rows.shape[1] * 8)
    index.add(rows)
    return index
