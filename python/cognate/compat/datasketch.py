"""MinHash and MinHashLSH by the names of datasketch.

>>> from cognate.compat.datasketch import MinHash, MinHashLSH
>>> first, second = MinHash(), MinHash()
>>> first.update_batch([word.encode() for word in "a sketch of a set of words".split()])
>>> second.update_batch([word.encode() for word in "a sketch of a set of terms".split()])
>>> 0.4 < first.jaccard(second) < 0.9
True
>>> lsh = MinHashLSH(threshold=0.4)
>>> lsh.insert("first", first)
>>> lsh.query(second)
['first']

This is for programs that build sets themselves, one element at a time. Whole texts are faster, and exact, by
cognate.dedup and cognate.pairs. Hash values are those of datasketch before 2.0, and of its scheme "legacy" since, so that
sketches of both compare. There are no storage back ends, no GPU, and no weighted or b-bit sketches.
"""
from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from .._inputs import Array

_PRIME = np.uint64((1 << 61) - 1)
_LARGEST = np.uint64((1 << 32) - 1)


def sha1_hash32(data: bytes) -> int:
    """The usual hash of an element: the first four bytes of its SHA-1."""
    return int.from_bytes(hashlib.sha1(data).digest()[:4], "little")


@functools.lru_cache(64)
def _permutations(num_perm: int, seed: int) -> Array:
    """Factors and terms, drawn in turn."""
    draw = np.random.RandomState(seed)
    limits = (1, int(_PRIME)), (0, int(_PRIME))
    drawn = np.array([[draw.randint(*limit, dtype=np.uint64) for limit in limits] for _ in range(num_perm)], np.uint64)
    permutations = np.ascontiguousarray(drawn.reshape(num_perm, 2).T)
    permutations.flags.writeable = False
    return permutations


class MinHash:
    """A sketch of a set, from which its Jaccard coefficient with another is estimated."""

    def __init__(self, num_perm: int = 128, seed: int = 1, hashfunc: Callable[[bytes], int] = sha1_hash32,
                 hashvalues: Iterable[int] | None = None):
        self.num_perm, self.seed, self.hashfunc = num_perm, seed, hashfunc
        self.permutations = _permutations(num_perm, seed)
        self.hashvalues: Array = np.full(num_perm, _LARGEST, np.uint64)
        if hashvalues is not None:
            self.hashvalues = np.array(list(hashvalues), np.uint64)
            if len(self.hashvalues) != num_perm:
                raise ValueError("as many hash values as num_perm are needed")

    def update(self, b: bytes) -> None:
        """Adds an element."""
        self.update_batch([b])

    def update_batch(self, b: Iterable[bytes]) -> None:
        """Adds elements."""
        hashes = np.fromiter((self.hashfunc(element) for element in b), np.uint64)
        factors, terms = self.permutations
        for first in range(0, len(hashes), 4096):
            part = hashes[first:first + 4096, None]
            values = (part * factors + terms) % _PRIME & _LARGEST  # products wrap, as there
            self.hashvalues = np.minimum(self.hashvalues, values.min(axis=0))

    @classmethod
    def bulk(cls, b: Iterable[Iterable[bytes]], **options: Any) -> list[MinHash]:
        """Sketches of many sets."""
        return list(cls.generator(b, **options))

    @classmethod
    def generator(cls, b: Iterable[Iterable[bytes]], **options: Any) -> Iterator[MinHash]:
        """The same one by one."""
        for elements in b:
            sketch = cls(**options)
            sketch.update_batch(elements)
            yield sketch

    def _check(self, other: MinHash) -> None:
        if self.seed != other.seed or self.num_perm != other.num_perm:
            raise ValueError("sketches of another seed or num_perm do not compare")

    def jaccard(self, other: MinHash) -> float:
        """The estimate of the Jaccard coefficient."""
        self._check(other)
        return float(np.count_nonzero(self.hashvalues == other.hashvalues)) / self.num_perm

    def merge(self, other: MinHash) -> None:
        """Makes this the sketch of the union."""
        self._check(other)
        self.hashvalues = np.minimum(self.hashvalues, other.hashvalues)

    @classmethod
    def union(cls, *sketches: MinHash) -> MinHash:
        """The sketch of the union of sets."""
        result = sketches[0].copy()
        for sketch in sketches[1:]:
            result.merge(sketch)
        return result

    def count(self) -> float:
        """An estimate of the number of elements."""
        return float(self.num_perm / np.sum(self.hashvalues / float(_LARGEST)) - 1)

    def digest(self) -> Array:
        """The hash values."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return bool(np.all(self.hashvalues == _LARGEST))

    def clear(self) -> None:
        """Forgets all elements."""
        self.hashvalues = np.full(self.num_perm, _LARGEST, np.uint64)

    def copy(self) -> MinHash:
        """A sketch of the same set."""
        return MinHash(self.num_perm, self.seed, self.hashfunc, self.hashvalues)

    def __len__(self) -> int:
        return self.num_perm

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, MinHash) and self.seed == other.seed
                and np.array_equal(self.hashvalues, other.hashvalues))

    __hash__ = None  # type: ignore[assignment]


def _bands(threshold: float, num_perm: int, weights: tuple[float, float]) -> tuple[int, int]:
    """Bands and rows per band with the least weighted share of wrong answers on both sides of the threshold."""
    below, above = np.linspace(0, threshold, 101), np.linspace(threshold, 1, 101)
    best = (float("inf"), 1, 1)
    for b in range(1, num_perm + 1):
        for r in range(1, num_perm // b + 1):
            wrong = np.mean(1 - (1 - below ** r) ** b) * threshold * weights[0]
            missed = np.mean((1 - above ** r) ** b) * (1 - threshold) * weights[1]
            best = min(best, (float(wrong + missed), b, r))
    return best[1], best[2]


class MinHashLSH:
    """Finds sketches that probably have a Jaccard coefficient above the threshold."""

    def __init__(self, threshold: float = 0.9, num_perm: int = 128, weights: tuple[float, float] = (0.5, 0.5),
                 params: tuple[int, int] | None = None):
        if not 0 <= threshold <= 1:
            raise ValueError("the threshold lies between 0 and 1")
        self.threshold, self.h = threshold, num_perm
        self.b, self.r = params or _bands(threshold, num_perm, weights)
        if self.b * self.r > num_perm:
            raise ValueError("the bands have more values than the sketches")
        self.hashtables: list[dict[bytes, set[Hashable]]] = [{} for _ in range(self.b)]
        self.keys: dict[Hashable, list[bytes]] = {}
        self._buffered: list[MinHash] = []

    def _buckets(self, minhash: MinHash) -> list[bytes]:
        if len(minhash) != self.h:
            raise ValueError(f"sketches of {self.h} values are expected, not of {len(minhash)}")
        values = minhash.hashvalues.astype(np.uint32)
        return [values[i * self.r:(i + 1) * self.r].tobytes() for i in range(self.b)]

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Adds a sketch under a key."""
        if check_duplication and key in self.keys:
            raise ValueError("the key is there already")
        self.keys[key] = self._buckets(minhash)
        for table, bucket in zip(self.hashtables, self.keys[key], strict=True):
            table.setdefault(bucket, set()).add(key)

    def query(self, minhash: MinHash) -> list[Any]:
        """The keys of sketches that share a band."""
        found: dict[Hashable, None] = {}
        for table, bucket in zip(self.hashtables, self._buckets(minhash), strict=True):
            found.update(dict.fromkeys(table.get(bucket, ())))
        return list(found)

    def remove(self, key: Hashable) -> None:
        """Removes a key."""
        if key not in self.keys:
            raise ValueError("there is no such key")
        for table, bucket in zip(self.hashtables, self.keys.pop(key), strict=True):
            table[bucket].discard(key)
            if not table[bucket]:
                del table[bucket]

    def is_empty(self) -> bool:
        """Whether there are no keys."""
        return not self.keys

    def __contains__(self, key: Hashable) -> bool:
        return key in self.keys

    def add_to_query_buffer(self, minhash: MinHash) -> None:
        """A query to be answered by collect_query_buffer."""
        self._buckets(minhash)
        self._buffered.append(minhash)

    def collect_query_buffer(self) -> list[Any]:
        """The keys that all buffered queries find, of which there are none afterwards."""
        answers = [set(self.query(minhash)) for minhash in self._buffered]
        self._buffered = []
        return list(set.intersection(*answers)) if answers else []

    def get_counts(self) -> list[dict[bytes, int]]:
        """How many keys each bucket of each table has."""
        return [{bucket: len(keys) for bucket, keys in table.items()} for table in self.hashtables]

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds the keys of another index with the same bands."""
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError("indexes with other bands do not merge")
        if check_overlap and self.keys.keys() & other.keys.keys():
            raise ValueError("some keys are in both indexes")
        for key, buckets in other.keys.items():
            self.keys[key] = buckets
            for table, bucket in zip(self.hashtables, buckets, strict=True):
                table.setdefault(bucket, set()).add(key)

    @contextlib.contextmanager
    def insertion_session(self, **options: Any) -> Iterator[MinHashLSH]:
        """For many insertions, which are done one by one."""
        yield self

    deletion_session = insertion_session
