"""Other forms of sketches by the names of datasketch: lean, of b bits, weighted; and the forest that finds the nearest."""
from __future__ import annotations

import bisect
import struct
from collections.abc import Hashable
from typing import Any, NoReturn

import numpy as np

from .._inputs import Array
from ._sketches import _SCHEMES, _TYPES, MinHash

_CODES = {"affine32": 1, "affine64": 2}  # in serialized sketches; those of "legacy" have none
_VALUES = {"affine32": "I", "affine64": "Q", "legacy": "I"}


class LeanMinHash(MinHash):
    """A sketch that cannot be updated: its hash values, its seed and its scheme. It may be a key of a dict.

    >>> from cognate.compat.datasketch import LeanMinHash, MinHash
    >>> whole = MinHash()
    >>> whole.update(b"element")
    >>> lean = LeanMinHash(whole)
    >>> buffer = bytearray(lean.bytesize())
    >>> lean.serialize(buffer)
    >>> LeanMinHash.deserialize(buffer) == lean
    True
    """

    def __init__(self, minhash: MinHash | None = None, seed: int | None = None, hashvalues: Any = None,
                 scheme: str | None = None):
        if minhash is not None:
            if scheme not in (None, minhash.scheme):
                raise ValueError(f"scheme {scheme!r}, but the sketch is of {minhash.scheme!r}")
            seed, hashvalues, scheme = minhash.seed, minhash.hashvalues, minhash.scheme
        if hashvalues is None or seed is None or scheme is None:
            raise ValueError("give a sketch, or its seed, hash values and scheme ('legacy' for those of datasketch before 2.0)")
        if scheme not in _SCHEMES:
            raise ValueError(f"scheme {scheme!r}: choose one of {', '.join(_SCHEMES)}")
        self.scheme, self.seed = scheme, seed
        self.hashvalues = self._numbers(hashvalues, "hash values")
        self.num_perm = len(self.hashvalues)

    def __getstate__(self) -> tuple[str, int, Array]:
        return self.scheme, self.seed, self.hashvalues

    def __setstate__(self, state: Any) -> None:
        self.scheme, self.seed, self.hashvalues = state
        self.num_perm = len(self.hashvalues)

    def update(self, b: Any) -> NoReturn:
        """A lean sketch has no hash function."""
        raise TypeError("a LeanMinHash is not updated: update the MinHash that it is made from")

    update_batch = update

    def _like(self, values: Array) -> MinHash:
        return LeanMinHash(seed=self.seed, hashvalues=values, scheme=self.scheme)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.seed, self.scheme, self.hashvalues.tobytes()))

    def _format(self, byteorder: str) -> str:
        return f"{byteorder}qi{'' if self.scheme == 'legacy' else 'B'}{self.num_perm}{_VALUES[self.scheme]}"

    def bytesize(self, byteorder: str = "@") -> int:
        """Bytes that serialize writes, by a byte order of the module struct."""
        return struct.calcsize(self._format(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Writes the sketch to the start of a buffer, as datasketch does: the seed (8 bytes), the number of values (4),
        negative if the scheme follows (1), and the values."""
        if len(buf) < self.bytesize(byteorder):
            raise ValueError(f"the buffer has {len(buf)} bytes, and {self.bytesize(byteorder)} are written")
        count = [self.num_perm] if self.scheme == "legacy" else [-self.num_perm, _CODES[self.scheme]]
        struct.pack_into(self._format(byteorder), buf, 0, self.seed, *count, *self.hashvalues.tolist())

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Reads a sketch that serialize has written, here or in datasketch."""
        seed, count = struct.unpack_from(f"{byteorder}qi", buf, 0)
        scheme = "legacy"
        if count < 0:
            code = struct.unpack_from(f"{byteorder}qiB", buf, 0)[2]
            if code not in _CODES.values():
                raise ValueError(f"no sketch: there is no scheme with the number {code}")
            scheme = next(name for name, number in _CODES.items() if number == code)
        lean = cls(seed=seed, hashvalues=np.zeros(abs(count), np.uint64), scheme=scheme)
        if len(buf) < lean.bytesize(byteorder):
            raise ValueError(f"the buffer has {len(buf)} bytes, and the sketch {lean.bytesize(byteorder)}")
        values = struct.unpack_from(lean._format(byteorder), buf, 0)[2 if scheme == "legacy" else 3:]
        lean.hashvalues = np.array(values, _TYPES[scheme])
        return lean


class bBitMinHash:  # noqa: N801
    """The lowest b bits of each hash value of a sketch. r is the ratio of the set's size to that of the universe.

    >>> from cognate.compat.datasketch import MinHash, bBitMinHash
    >>> sketch = MinHash()
    >>> sketch.update(b"element")
    >>> bBitMinHash(sketch, b=2).jaccard(bBitMinHash(sketch, b=2))
    1.0
    """

    def __init__(self, minhash: MinHash, b: int = 1, r: float = 0.0):
        if not 0 <= int(b) <= 32 or not 0 <= float(r) <= 1:
            raise ValueError("b is from 0 to 32, r from 0 to 1")
        self.b, self.r, self.seed, self.scheme = int(b), float(r), minhash.seed, minhash.scheme
        self.hashvalues: Array = (minhash.hashvalues & _TYPES[self.scheme]((1 << self.b) - 1)).astype(np.uint32)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bBitMinHash) and np.array_equal(self.hashvalues, other.hashvalues) and (
            self.b, self.r, self.seed, self.scheme) == (other.b, other.r, other.seed, other.scheme)

    __hash__ = None  # type: ignore[assignment]

    def jaccard(self, other: bBitMinHash) -> float:
        """The estimate of the Jaccard coefficient (Li and König, 2010): values that agree by chance are subtracted.
        With r above 0 it differs from that of datasketch 2.0, which has 2b where the paper has 2^b."""
        if (self.b, self.seed, self.scheme, len(self.hashvalues)) != (
                other.b, other.seed, other.scheme, len(other.hashvalues)):
            raise ValueError("sketches of another b, scheme, seed or num_perm do not compare")
        chance, other_chance = self._chance(), other._chance()
        share = self.r / (self.r + other.r) if self.r + other.r else 0.5
        first = chance * (1 - share) + other_chance * share
        second = chance * share + other_chance * (1 - share)
        equal = float(np.count_nonzero(self.hashvalues == other.hashvalues)) / len(self.hashvalues)
        return (equal - first) / (1 - second)

    def _chance(self) -> float:
        """The probability that two values of b bits agree although the full values differ."""
        values = 2.0 ** self.b
        if self.r == 0:
            return 1 / values
        return float(self.r * (1 - self.r) ** (values - 1) / (1 - (1 - self.r) ** values))

    def bytesize(self) -> int:
        """Bytes of the values, packed to b bits each, plus 21 bytes of header."""
        return 21 + (self.b * len(self.hashvalues) + 63) // 64 * 8


class WeightedMinHash:
    """A sketch of a vector of weights: k and t of each sample."""

    def __init__(self, seed: int, hashvalues: Array):
        self.seed, self.hashvalues = seed, np.asarray(hashvalues)

    def jaccard(self, other: WeightedMinHash) -> float:
        """The estimate of the weighted Jaccard coefficient: the sum of least weights by that of the greatest."""
        if (self.seed, len(self)) != (other.seed, len(other)):
            raise ValueError("sketches of another seed or sample size do not compare")
        return float(np.count_nonzero((self.hashvalues == other.hashvalues).all(1))) / len(self)

    def digest(self) -> Array:
        """The hash values."""
        return self.hashvalues.copy()

    def copy(self) -> WeightedMinHash:
        """A sketch of the same vector."""
        return WeightedMinHash(self.seed, self.digest())

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeightedMinHash) and self.seed == other.seed and np.array_equal(
            self.hashvalues, other.hashvalues)

    __hash__ = None  # type: ignore[assignment]


class WeightedMinHashGenerator:
    """Makes sketches of weighted vectors (Ioffe, 2010), with the hash values of datasketch for the same seed.

    >>> from cognate.compat.datasketch import WeightedMinHashGenerator
    >>> generator = WeightedMinHashGenerator(3, sample_size=256)
    >>> first, second = generator.minhash([1, 3, 2]), generator.minhash([1, 3, 4])
    >>> abs(first.jaccard(second) - 6 / 8) < 0.1
    True
    """

    def __init__(self, dim: int, sample_size: int = 128, seed: int = 1):
        draw, shape = np.random.RandomState(seed), (sample_size, dim)
        self.dim, self.sample_size, self.seed = dim, sample_size, seed
        self.rs = draw.gamma(2, 1, shape).astype(np.float32)
        self.ln_cs = np.log(draw.gamma(2, 1, shape)).astype(np.float32)
        self.betas = draw.uniform(0, 1, shape).astype(np.float32)

    def minhash(self, v: Any) -> WeightedMinHash:
        """The sketch of a vector of `dim` weights, none negative and at least one above 0."""
        weights = np.array(v, np.float32)
        if weights.shape != (self.dim,):
            raise ValueError(f"a vector of {self.dim} weights is expected, not of shape {list(weights.shape)}")
        there = np.flatnonzero(weights)
        if not len(there):
            raise ValueError("all weights are 0")
        return self._sketch(there, weights[there])

    def _sketch(self, there: Array, weights: Array) -> WeightedMinHash:
        rs, betas = self.rs[:, there], self.betas[:, there]
        t = np.floor(np.log(weights) / rs + betas)
        order = self.ln_cs[:, there] - (t - betas) * rs - rs
        first = order.argmin(1)
        values = np.stack([there[first], t[np.arange(self.sample_size), first].astype(int)], 1)
        return WeightedMinHash(self.seed, values.astype(int))

    def minhash_many(self, X: Any) -> list[WeightedMinHash | None]:  # noqa: N803
        """The sketches of the rows of an array or of a sparse matrix of SciPy; None of rows that are all 0."""
        if len(X.shape) != 2 or X.shape[1] != self.dim:
            raise ValueError(f"rows of {self.dim} weights are expected")
        rows = X.tocsr() if hasattr(X, "tocsr") else None
        sketches: list[WeightedMinHash | None] = []
        for i in range(X.shape[0]):
            if rows is None:
                weights = np.asarray(X[i], np.float32)
                there = np.flatnonzero(weights)
                weights = weights[there]
            else:
                there, weights = (part[rows.indptr[i]:rows.indptr[i + 1]] for part in (rows.indices, rows.data))
                there, weights = there[weights != 0], weights[weights != 0].astype(np.float32)
            sketches.append(self._sketch(there, weights) if len(there) else None)
        return sketches


class MinHashLSHForest:
    """Finds the k sketches that share the longest prefixes of their values with a query, in `l` orders of the values.

    >>> from cognate.compat.datasketch import MinHash, MinHashLSHForest
    >>> sketches = MinHash.bulk([[b"a", b"b", b"c"], [b"a", b"b", b"d"], [b"x", b"y", b"z"]])
    >>> forest = MinHashLSHForest()
    >>> for key, sketch in enumerate(sketches):
    ...     forest.add(key, sketch)
    >>> forest.index()
    >>> forest.query(sketches[0], 1)
    [0]
    """

    def __init__(self, num_perm: int = 128, l: int = 8):  # noqa: E741
        if l <= 0 or num_perm <= 0 or l > num_perm:
            raise ValueError("num_perm and l are above 0, and l is num_perm at most")
        self.l, self.k = l, num_perm // l
        self.hashranges = [(i * self.k, (i + 1) * self.k) for i in range(l)]
        self.hashtables: list[dict[bytes, list[Hashable]]] = [{} for _ in range(l)]
        self.sorted_hashtables: list[list[bytes]] = [[] for _ in range(l)]
        self.keys: dict[Hashable, list[bytes]] = {}
        self._kind: tuple[Any, ...] = ()  # of hash values: their type and shape

    def _parts(self, values: Array) -> list[bytes]:
        """The values of each order, so that beginnings of bytes are beginnings of values."""
        if len(values) < self.k * self.l:
            raise ValueError(f"sketches of {self.k * self.l} values or more are expected, not of {len(values)}")
        if self._kind not in ((), (values.dtype, *values.shape[1:])):
            raise ValueError("sketches of another scheme do not compare")
        return [values[begin:end].tobytes() for begin, end in self.hashranges]

    def add(self, key: Hashable, minhash: MinHash | WeightedMinHash) -> None:
        """Adds a sketch under a key; queries find it after the next call of index."""
        if key in self.keys:
            raise ValueError("the key is there already")
        self.keys[key] = self._parts(minhash.hashvalues)
        self._kind = (minhash.hashvalues.dtype, *minhash.hashvalues.shape[1:])
        for table, part in zip(self.hashtables, self.keys[key], strict=True):
            table.setdefault(part, []).append(key)

    def index(self) -> None:
        """Makes added sketches ready for queries."""
        self.sorted_hashtables = [sorted(table) for table in self.hashtables]

    def query(self, minhash: MinHash | WeightedMinHash, k: int) -> list[Hashable]:
        """Up to k keys, longest common prefix first."""
        if k <= 0:
            raise ValueError("k has to be above 0")
        parts, found = self._parts(minhash.hashvalues), dict[Hashable, None]()
        size = len(parts[0]) // self.k
        for depth in range(self.k, 0, -1):
            for part, order, table in zip(parts, self.sorted_hashtables, self.hashtables, strict=True):
                begin = part[:depth * size]
                for place in range(bisect.bisect_left(order, begin), len(order)):
                    if not order[place].startswith(begin):
                        break
                    found.update(dict.fromkeys(table[order[place]]))
                if len(found) >= k:
                    return list(found)[:k]
        return list(found)

    def get_minhash_hashvalues(self, key: Hashable) -> Array:
        """The hash values of a key that the forest keeps."""
        if key not in self.keys:
            raise KeyError(f"there is no key {key!r}")
        kind, *shape = self._kind
        return np.frombuffer(b"".join(self.keys[key]), kind).reshape(-1, *shape)

    def is_empty(self) -> bool:
        """Whether queries find nothing because nothing was indexed."""
        return not any(self.sorted_hashtables)

    def __contains__(self, key: Hashable) -> bool:
        return key in self.keys
