"""Several hash tables over the same rows: a query compares each row that one of them proposes, once."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _cognate
from .._inputs import Array
from .._table import Table
from ._faiss_flat import IndexBinary, IndexBinaryFlat
from ._faiss_lists import ANY_RADIUS, hash_stats, probed_buckets


class _HashTable:
    """The rows by their keys."""

    def __init__(self, keys: Array):
        self.order = np.argsort(keys, kind="stable")
        self.numbers, starts = np.unique(keys[self.order], return_index=True)
        self.starts = np.append(starts, len(keys)).astype(np.int64)

    def proposed(self, key: Array, bits: int, flips: int) -> tuple[int, Array]:
        """The number of buckets that a key probes, and their rows."""
        places = probed_buckets(self.numbers, key, bits, flips)[1]
        parts = [self.order[self.starts[place]:self.starts[place + 1]] for place in places]
        return len(places), np.concatenate([self.order[:0], *parts])


class IndexBinaryMultiHash(IndexBinary):
    """Rows in nhash tables, each by b bits of its own: the first b, the next b, and so on. A search compares the rows of
    the buckets whose keys differ in at most nflip bits."""

    def __init__(self, d: int, nhash: int, b: int):
        super().__init__(d)
        if nhash < 1 or not 1 <= b <= 64 or nhash * b > d:
            raise ValueError(f"{nhash} keys of {b} bits: choose 1 to 64 bits, and no more than {d} altogether")
        self.nhash, self.b, self.nflip = nhash, b, 0
        #: The rows, whose labels are their positions.
        self.storage = IndexBinaryFlat(d)
        self._tables: list[_HashTable] = []

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        return self.storage.ntotal

    def add(self, x: Any) -> None:
        """Adds rows, which are copied. The tables are made by the next search."""
        self.storage.add(x)
        self._tables = []

    def reset(self) -> None:
        """Removes all rows."""
        self.storage.reset()
        self._tables = []

    def reconstruct(self, key: int) -> Array:
        """A row."""
        return self.storage.reconstruct(key)

    def reconstruct_n(self, n0: int, ni: int) -> Array:
        """Rows n0 to n0 + ni."""
        return self.storage.reconstruct_n(n0, ni)

    def hashtable_size(self) -> int:
        """Buckets that have rows, of all tables."""
        return sum(len(table.numbers) for table in self._made())

    def _keys(self, x: Array) -> Array:
        """uint64 [rows, nhash]."""
        bits = np.unpackbits(x, axis=1, bitorder="little")[:, :self.nhash * self.b].astype(np.uint64)
        powers = np.uint64(1) << np.arange(self.b, dtype=np.uint64)
        keys: Array = (bits.reshape(len(x), self.nhash, self.b) * powers).sum(axis=2, dtype=np.uint64)
        return keys

    def _made(self) -> list[_HashTable]:
        if not self._tables and self.ntotal:
            keys = self._keys(self.reconstruct_n(0, self.ntotal))
            self._tables = [_HashTable(keys[:, number]) for number in range(self.nhash)]
        return self._tables

    def _proposed(self, keys: Array) -> Array:
        """The rows that one query is compared with, rising."""
        found = [table.proposed(keys[number:number + 1], self.b, self.nflip) for number, table in enumerate(self._made())]
        buckets, rows = sum(count for count, _ in found), np.concatenate([rows for _, rows in found])
        hash_stats.nq += 1
        hash_stats.n0 += not buckets
        hash_stats.nlist += buckets
        hash_stats.ndis += len(rows)
        return np.unique(rows)

    def _hits(self, queries: Array, k: int, radius: int | None) -> tuple[Array, Array, Array]:
        proposed = [self._proposed(keys) for keys in self._keys(queries)]
        begins = np.concatenate(proposed).astype(np.uint32)
        offsets = np.cumsum([0, *map(len, proposed)]).astype(np.uint64)
        width = -(-self.code_size // 8) * 8
        rows, asked = (np.pad(codes, ((0, 0), (0, width - self.code_size)))
                       for codes in (self.reconstruct_n(0, self.ntotal), queries))
        arrow, text = _cognate.range_search(asked, len(asked), rows, len(rows), width * 8, offsets, begins, begins + np.uint32(1),
                                            len(begins), k, ANY_RADIUS if radius is None else radius, {})
        table = Table(arrow, text, [])
        return table["query"], table["row"], table["distance"]
