"""MinHash, its hash values, and the index MinHashLSH; cognate.compat.datasketch has the names that users meet."""
from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from .. import _cognate
from .._inputs import Array

_PRIME = (1 << 61) - 1
_SCHEMES = ("affine32", "affine64", "legacy")  # in the order of the extension
_TYPES: dict[str, Any] = {"affine32": np.uint32, "affine64": np.uint64, "legacy": np.uint64}
_LARGEST = {"affine32": (1 << 32) - 1, "affine64": (1 << 64) - 1, "legacy": (1 << 32) - 1}
_BATCH = 256


def sha1_hash32(data: bytes) -> int:
    """The usual hash of an element: the first four bytes of its SHA-1."""
    return int.from_bytes(hashlib.sha1(data).digest()[:4], "little")


def sha1_hash64(data: bytes) -> int:
    """The usual hash of the scheme "affine64": the first eight bytes."""
    return int.from_bytes(hashlib.sha1(data).digest()[:8], "little")


@functools.lru_cache(64)
def _permutations(num_perm: int, seed: int, scheme: str) -> Array:
    """Factors and terms."""
    draw, kind = np.random.RandomState(seed), _TYPES[scheme]
    if scheme == "legacy":
        limits = (1, _PRIME), (0, _PRIME)
        drawn = np.array([[draw.randint(*limit, dtype=kind) for limit in limits] for _ in range(num_perm)], kind).T
    else:
        bits = 8 * np.dtype(kind).itemsize
        factors = draw.randint(0, 1 << (bits - 1), num_perm, dtype=kind) * kind(2) + kind(1)
        drawn = np.array([factors, draw.randint(0, 1 << bits, num_perm, dtype=kind)])
    permutations = np.ascontiguousarray(drawn)
    permutations.flags.writeable = False
    return permutations


class MinHash:
    """A sketch of a set, from which its Jaccard coefficient with another is estimated."""

    def __init__(self, num_perm: int = 128, seed: int = 1, gpu_mode: str = "disable",
                 hashfunc: Callable[[Any], int] | None = None, hashobj: object = None,
                 hashvalues: Iterable[int] | None = None, permutations: Any = None, scheme: str | None = None):
        if gpu_mode not in ("disable", "detect"):
            raise RuntimeError("there is no GPU: leave gpu_mode as it is")
        if scheme is None and (hashvalues is not None or permutations is not None):
            raise ValueError("scheme has to be named with hash values or permutations: that of their sketch, or "
                             "'legacy' for those of datasketch before 2.0")
        self.scheme = scheme or "affine32"
        if self.scheme not in _SCHEMES:
            raise ValueError(f"scheme {scheme!r}: choose one of {', '.join(_SCHEMES)}")
        self.seed, self._gpu_mode = seed, gpu_mode
        given = None if hashvalues is None else self._numbers(hashvalues, "hash values")
        self.num_perm = num_perm if given is None else len(given)
        if not 1 <= self.num_perm <= 1 << 32:
            raise ValueError(f"{self.num_perm} permutations: choose 1 to {1 << 32}")
        self.hashfunc = hashfunc or (sha1_hash64 if self.scheme == "affine64" else sha1_hash32)
        if not callable(self.hashfunc):
            raise ValueError("hashfunc has to be callable")
        self.permutations: Array = (_permutations(self.num_perm, seed, self.scheme) if permutations is None
                                    else self._checked_permutations(permutations))
        self.hashvalues: Array = given if given is not None else self._empty()

    def _numbers(self, values: Any, what: str) -> Array:
        """Values as numbers of the scheme, in an array of their own."""
        try:
            wide = np.array(values if isinstance(values, np.ndarray) else list(values), np.uint64)
            if isinstance(values, np.ndarray) and values.size and (values < 0).any():
                raise OverflowError("negative")
        except OverflowError as error:
            raise ValueError(f"{what} out of range for scheme {self.scheme!r}") from error
        if wide.size and self.scheme == "affine32" and int(wide.max()) > _LARGEST[self.scheme]:
            raise ValueError(f"{what} out of range for scheme {self.scheme!r}")
        numbers: Array = wide.astype(_TYPES[self.scheme])
        return numbers

    def _checked_permutations(self, given: Any) -> Array:
        permutations = np.ascontiguousarray([self._numbers(part, "permutations") for part in given])
        if permutations.shape != (2, self.num_perm):
            raise ValueError(f"permutations are two lists of {self.num_perm} numbers")
        if self.scheme != "legacy" and not (permutations[0] & 1).all():
            raise ValueError(f"the factors of scheme {self.scheme!r} are odd")
        return permutations

    def _empty(self) -> Array:
        values: Array = np.full(self.num_perm, _LARGEST[self.scheme], _TYPES[self.scheme])
        return values

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"scheme": "legacy", **state})  # sketches had no scheme before there were several

    def update(self, b: Any) -> None:
        """Adds an element: bytes, or what the hash function takes."""
        self.update_batch([b])

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds elements."""
        values = np.array(self.hashvalues, _TYPES[self.scheme])
        by = (self.permutations, _SCHEMES.index(self.scheme), self.num_perm)
        if self.hashfunc is (sha1_hash64 if self.scheme == "affine64" else sha1_hash32):
            _cognate.sketch_sets([b if isinstance(b, list) else list(b)], *by, values)
        else:
            hashes = self._numbers([self.hashfunc(element) for element in b], "hashfunc returned a value")
            _cognate.sketch_hashes(hashes.astype(np.uint64), *by, values)
        self.hashvalues = values

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **options: Any) -> list[MinHash]:
        """Sketches of many sets."""
        first, sets, sketches = cls(**options), iter(b), []
        if first.hashfunc not in (sha1_hash32, sha1_hash64) or (first.hashfunc is sha1_hash64) != (
                first.scheme == "affine64"):
            return list(cls.generator(sets, **options))
        while part := [list(elements) for elements in itertools.islice(sets, _BATCH)]:
            values = np.tile(first.hashvalues, (len(part), 1))
            _cognate.sketch_sets(part, first.permutations, _SCHEMES.index(first.scheme), first.num_perm, values)
            sketches += [first._like(row) for row in values]
        return sketches

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **options: Any) -> Iterator[MinHash]:
        """The same one by one."""
        first = cls(**options)
        for elements in b:
            sketch = first._like(first.hashvalues)
            sketch.update_batch(elements)
            yield sketch

    def _like(self, values: Array) -> MinHash:
        """A sketch with other hash values, which are copied."""
        sketch = self.__class__.__new__(self.__class__)
        sketch.__dict__.update(self.__dict__)
        sketch.hashvalues = values.copy()
        return sketch

    def _check(self, other: MinHash) -> None:
        if (self.scheme, self.seed, self.num_perm) != (other.scheme, other.seed, other.num_perm):
            raise ValueError("sketches of another scheme, seed or num_perm do not compare")

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
        if len(sketches) < 2:
            raise ValueError("a union is of two sketches or more")
        result = sketches[0].copy()
        for sketch in sketches[1:]:
            result.merge(sketch)
        return result

    def count(self) -> float:
        """An estimate of the number of elements."""
        return float(self.num_perm / np.sum(self.hashvalues / float(_LARGEST[self.scheme])) - 1)

    def digest(self) -> Array:
        """The hash values."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return bool(np.all(self.hashvalues == _LARGEST[self.scheme]))

    def clear(self) -> None:
        """Forgets all elements."""
        self.hashvalues = self._empty()

    def copy(self) -> MinHash:
        """A sketch of the same set."""
        return self._like(self.hashvalues)

    def __len__(self) -> int:
        return self.num_perm

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, MinHash) and (self.scheme, self.seed) == (other.scheme, other.seed)
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
                 params: tuple[int, int] | None = None, storage_config: dict[str, Any] | None = None,
                 prepickle: bool | None = None, hashfunc: Callable[[bytes], bytes] | None = None):
        if not 0 <= threshold <= 1:
            raise ValueError("the threshold lies between 0 and 1")
        if (storage_config or {}).get("type", "dict") != "dict":
            raise ValueError("there are no storage back ends: leave out storage_config, or use the type dict")
        self.threshold, self.h = threshold, num_perm
        self.b, self.r = params or _bands(threshold, num_perm, weights)
        if self.b * self.r > num_perm:
            raise ValueError("the bands have more values than the sketches")
        self.hashtables: list[dict[bytes, set[Hashable]]] = [{} for _ in range(self.b)]
        self.keys: dict[Hashable, list[bytes]] = {}
        self._scheme: str | None = None
        self._buffered: list[MinHash] = []

    def _buckets(self, minhash: Any) -> list[bytes]:
        if len(minhash) != self.h:
            raise ValueError(f"sketches of {self.h} values are expected, not of {len(minhash)}")
        scheme = getattr(minhash, "scheme", "weighted")
        if self._scheme is None:
            self._scheme = scheme
        if self._scheme != scheme:
            raise ValueError(f"this index has sketches of scheme {self._scheme!r}, not {scheme!r}")
        data = minhash.hashvalues[:self.b * self.r].tobytes()
        size = len(data) // self.b
        return [data[first:first + size] for first in range(0, self.b * size, size)]

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
        """The keys that all buffered queries find; empties the buffer."""
        answers = [set(self.query(minhash)) for minhash in self._buffered]
        self._buffered = []
        return list(set.intersection(*answers)) if answers else []

    def get_counts(self) -> list[dict[bytes, int]]:
        """How many keys each bucket of each table has."""
        return [{bucket: len(keys) for bucket, keys in table.items()} for table in self.hashtables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[bytes, int]]:
        """The same, of these keys alone."""
        chosen = set(keys)
        if not chosen <= self.keys.keys():
            raise ValueError("there is no such key")
        return [dict(collections.Counter(buckets)) for buckets in zip(*(self.keys[key] for key in chosen), strict=True)] or [
            {} for _ in range(self.b)]

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
        """A session for many insertions, which are done one by one."""
        yield self

    deletion_session = insertion_session
