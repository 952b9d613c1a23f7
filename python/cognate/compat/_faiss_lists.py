"""Binary indexes of lists: rows in one array, list after list; a query compares some of the lists."""
from __future__ import annotations

import functools
import itertools
import math
import types
from typing import Any

import numpy as np

from .. import _cognate
from .._inputs import Array
from .._table import Table
from ._faiss_flat import IndexBinary, selected

ANY_RADIUS = (1 << 32) - 1
_PROBES_AT_ONCE = 1 << 20


class _Ranges:
    """Ranges of rows for each query, as cog_row_ranges has them."""

    def __init__(self, counts: Array, begins: Array, ends: Array):
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
        self.begins, self.ends = begins.astype(np.uint32), ends.astype(np.uint32)


class IndexBinaryLists(IndexBinary):
    """Rows with labels in numbered lists. Added rows wait until the next search, which sorts them in."""

    def __init__(self, d: int):
        super().__init__(d)
        self.reset()

    def reset(self) -> None:
        """Removes all rows."""
        words = -(-self.code_size // 8)
        #: Rows by their lists, with zero bytes up to whole words, so that searches take them as they are.
        self._codes = np.empty((0, words * 8), np.uint8)
        self._labels = np.empty(0, np.int64)
        self._lists = np.empty(0, np.uint64)  # of each row
        self._waiting: list[tuple[Array, Array, Array]] = []
        self._next_label = 0
        self._changed()

    @property
    def ntotal(self) -> int:
        """Rows of the index."""
        return len(self._labels) + sum(len(labels) for _, labels, _ in self._waiting)

    def _lists_of(self, x: Array) -> Array:
        """The list of each row, uint64."""
        raise NotImplementedError

    def _ranges(self, queries: Array) -> _Ranges:
        """The rows that each query is compared with."""
        raise NotImplementedError

    def _padded(self, x: Array) -> Array:
        padded = np.zeros((len(x), self._codes.shape[1]), np.uint8)
        padded[:, :self.code_size] = x
        return padded

    def _changed(self) -> None:
        self._numbers: Array = np.empty(0, np.uint64)  # lists that have rows, ascending
        self._starts: Array = np.zeros(1, np.int64)  # where each begins, and where the last ends
        self._by_label: Array | None = None

    def _settle(self) -> None:
        """Puts waiting rows into their lists."""
        if not self._waiting:
            return
        parts = [(self._codes, self._labels, self._lists), *self._waiting]
        codes, labels, lists = (np.concatenate([part[i] for part in parts]) for i in range(3))
        order = np.argsort(lists, kind="stable")
        self._waiting = []
        self._store(codes[order], labels[order], lists[order])

    def _store(self, codes: Array, labels: Array, lists: Array) -> None:
        self._codes, self._labels, self._lists = codes, labels, lists
        self._changed()
        self._numbers, starts = np.unique(lists, return_index=True)
        self._starts = np.append(starts, len(lists)).astype(np.int64)

    def add(self, x: Any) -> None:
        """Adds rows, which are copied; their labels continue from the last."""
        rows = self._checked(x)
        self.add_with_ids(rows, np.arange(self._next_label, self._next_label + len(rows)))

    def add_with_ids(self, x: Any, ids: Any) -> None:
        """Adds rows with the given labels."""
        rows, labels = self._checked(x), np.array(ids, np.int64).ravel()
        if not self.is_trained:
            raise RuntimeError("the index is not trained: call train first")
        if len(rows) != len(labels):
            raise ValueError(f"{len(labels)} labels for {len(rows)} rows")
        if len(rows):
            self._waiting.append((self._padded(rows), labels, self._lists_of(rows)))
            self._next_label += len(rows)
            self._by_label = None

    def remove_ids(self, which: Any) -> int:
        """Removes rows by a selector or an array of labels; others keep their labels. Returns the number of removed
        rows."""
        self._settle()
        stays = ~selected(which, self._labels)
        if not stays.all():
            self._store(self._codes[stays], self._labels[stays], self._lists[stays])
        return int(np.count_nonzero(~stays))

    def reconstruct(self, key: int) -> Array:
        """The row of a label."""
        self._settle()
        if self._by_label is None:
            self._by_label = np.argsort(self._labels, kind="stable")
        at = np.searchsorted(self._labels, key, sorter=self._by_label)
        if at == len(self._labels) or self._labels[self._by_label[at]] != key:
            raise RuntimeError(f"there is no row {key}")
        row: Array = self._codes[self._by_label[at], :self.code_size].copy()
        return row

    def reconstruct_n(self, n0: int, ni: int) -> Array:
        """The rows of the labels n0 to n0 + ni."""
        rows = [self.reconstruct(key) for key in range(n0, n0 + ni)]
        return np.array(rows, np.uint8).reshape(ni, self.code_size)

    def make_direct_map(self, new_maintain_direct_map: bool = True) -> None:
        """Rows can always be had by their labels."""

    def set_direct_map_type(self, kind: int) -> None:
        """Rows can always be had by their labels."""

    def _hits(self, queries: Array, k: int, radius: int | None) -> tuple[Array, Array, Array]:
        self._settle()
        ranges, padded = self._ranges(queries), self._padded(queries)
        arrow, text = _cognate.range_search(padded, len(queries), self._codes, len(self._codes), padded.shape[1] * 8,
                                            ranges.offsets, ranges.begins, ranges.ends, len(ranges.begins), k,
                                            ANY_RADIUS if radius is None else radius, {})
        table = Table(arrow, text, [])
        return table["query"], self._labels[table["row"]], table["distance"]


class IndexBinaryIVF(IndexBinaryLists):
    """An inverted file: rows in the list of their nearest centroid; a search compares the nprobe nearest lists.

    The quantizer holds the centroids, which train learns unless it has them.
    """

    def __init__(self, quantizer: IndexBinary, d: int, nlist: int):
        super().__init__(d)
        if quantizer.d != d or nlist < 1:
            raise ValueError(f"{nlist} lists by a quantizer of {quantizer.d} bits: choose 1 or more, and {d} bits")
        self.quantizer, self.nlist, self.nprobe = quantizer, nlist, 1
        self.is_trained = quantizer.ntotal == nlist
        #: Settings of the training.
        self.cp = types.SimpleNamespace(niter=10, seed=1234, max_points_per_centroid=256, min_points_per_centroid=39,
                                        verbose=False)

    def train(self, x: Any) -> None:
        """Learns the centroids from rows: at least as many as there are lists."""
        points = self._checked(x)
        if self.quantizer.ntotal != self.nlist:
            if len(points) < self.nlist:
                raise RuntimeError(f"{len(points)} rows to learn {self.nlist} centroids from: give more rows")
            centroids = _centroids(points, self.nlist, self.cp)
            self.quantizer.reset()
            self.quantizer.add(centroids)
        self.is_trained = True

    def get_list_size(self, list_no: int) -> int:
        """Rows of a list."""
        self._settle()
        return int(np.count_nonzero(self._lists == list_no))

    def _lists_of(self, x: Array) -> Array:
        return self.quantizer.search(x, 1)[1][:, 0].astype(np.uint64)

    def _ranges(self, queries: Array) -> _Ranges:
        probed = self.quantizer.search(queries, min(max(1, int(self.nprobe)), self.nlist))[1]
        places = np.searchsorted(self._numbers, probed.ravel().astype(np.uint64))
        there = np.append(self._numbers, self._numbers[-1:])[places].reshape(probed.shape) == probed
        chosen = places[there.ravel()]
        return _Ranges(there.sum(axis=1), self._starts[chosen], self._starts[chosen + 1])


def _centroids(points: Array, count: int, settings: Any) -> Array:
    """K-means of the bits as -1 and 1; centroids are the signs. An empty list restarts at a point."""
    draw = np.random.RandomState(settings.seed)
    points = points[draw.permutation(len(points))[:count * settings.max_points_per_centroid]]
    signs = 2 * np.unpackbits(points, axis=1).astype(np.float32) - 1
    centroids = signs[:count].copy()
    for _ in range(settings.niter):
        nearest = _nearest(signs, centroids)
        sizes = np.bincount(nearest, minlength=count)
        filled = np.flatnonzero(sizes)
        starts = np.cumsum(sizes[filled]) - sizes[filled]
        moved = signs[draw.randint(len(signs), size=count)]
        moved[filled] = np.add.reduceat(signs[np.argsort(nearest, kind="stable")], starts, axis=0) / sizes[filled, None]
        if np.array_equal(moved, centroids):
            break
        centroids = moved
    return np.packbits(centroids > 0, axis=1)


def _nearest(signs: Array, centroids: Array) -> Array:
    """The nearest centroid of each point, in pieces whose products fit the cache."""
    half = (centroids * centroids).sum(axis=1) / 2
    step = max(1, _PROBES_AT_ONCE // len(centroids))
    return np.concatenate([np.argmax(signs[first:first + step] @ centroids.T - half, axis=1)
                           for first in range(0, len(signs), step)])


class _HashStats:
    """What searches of hash indexes have done since reset."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Counts from 0 again."""
        self.nq = self.n0 = self.nlist = self.ndis = 0


hash_stats = _HashStats()


def probed_buckets(numbers: Array, keys: Array, bits: int, flips: int) -> tuple[Array, Array]:
    """Which of the buckets with these numbers (ascending) each key probes: how many, and their places."""
    flips = min(max(0, int(flips)), bits)
    probes = sum(math.comb(bits, i) for i in range(flips + 1))
    if probes < len(numbers):
        probed = keys[:, None] ^ _masks(bits, flips)
        places = np.searchsorted(numbers, probed)
        there = np.append(numbers, numbers[-1:])[places] == probed
        return there.sum(axis=1), places[there]
    there = _count_bits(keys[:, None] ^ numbers) <= flips
    return there.sum(axis=1), np.nonzero(there)[1]


class IndexBinaryHash(IndexBinaryLists):
    """Rows in buckets by their first b bits. A search compares the buckets whose keys differ in at most nflip bits."""

    def __init__(self, d: int, b: int):
        super().__init__(d)
        if not 1 <= b <= min(d, 64):
            raise ValueError(f"keys of {b} bits: choose 1 to {min(d, 64)}")
        self.b, self.nflip = b, 0

    def hashtable_size(self) -> int:
        """Buckets that have rows."""
        self._settle()
        return len(self._numbers)

    def _lists_of(self, x: Array) -> Array:
        head = np.zeros((len(x), 8), np.uint8)
        head[:, :min(8, self.code_size)] = x[:, :8]
        keys: Array = head.view("<u8").ravel().astype(np.uint64) & np.uint64((1 << self.b) - 1)
        return keys

    def _ranges(self, queries: Array) -> _Ranges:
        keys = self._lists_of(queries)
        step = max(1, _PROBES_AT_ONCE // len(self._numbers))
        parts = [probed_buckets(self._numbers, keys[first:first + step], self.b, self.nflip)
                 for first in range(0, len(keys), step)]
        counts, places = (np.concatenate([part[i] for part in parts]) for i in range(2))
        ranges = _Ranges(counts, self._starts[places], self._starts[places + 1])
        hash_stats.nq += len(queries)
        hash_stats.n0 += int(np.count_nonzero(counts == 0))
        hash_stats.nlist += len(places)
        hash_stats.ndis += int((ranges.ends - ranges.begins).sum(dtype=np.int64))
        return ranges


@functools.lru_cache(16)
def _masks(bits: int, flips: int) -> Array:
    """All numbers with at most `flips` of the lowest `bits` bits set, the fewest first."""
    return np.array([sum(1 << bit for bit in chosen) for count in range(flips + 1)
                     for chosen in itertools.combinations(range(bits), count)], np.uint64)


@functools.lru_cache(1)
def _counts16() -> Array:
    return np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


def _count_bits(numbers: Array) -> Array:
    parts = np.ascontiguousarray(numbers).view(np.uint16).reshape(*numbers.shape, 4)
    counts: Array = _counts16()[parts].sum(axis=-1, dtype=np.uint8)
    return counts
