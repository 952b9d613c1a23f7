"""Binary indexes by the names of faiss.

>>> import numpy as np
>>> from cognate.compat import faiss
>>> index = faiss.IndexBinaryFlat(64)
>>> index.add(np.array([[0] * 8, [255] * 8, [1] + [0] * 7], np.uint8))
>>> distances, labels = index.search(np.zeros((1, 8), np.uint8), 2)
>>> distances.tolist(), labels.tolist()
([[0, 1]], [[0, 2]])

IndexBinaryFlat compares all rows. IndexBinaryIVF compares the rows of the nprobe lists whose centroids are nearest, and
IndexBinaryHash those of the buckets whose keys differ from the query's in nflip bits at most, IndexBinaryMultiHash those of
several such tables.

Differences: equal distances come in the order in which rows are stored; every index can reconstruct rows, with or without a
direct map; a flat index is written as the .npy file of its rows, the others as .npz files.
"""
from __future__ import annotations

import types


from ._faiss_files import deserialize_index_binary, read_index_binary, serialize_index_binary, write_index_binary
from ._faiss_flat import IDSelectorBatch, IDSelectorRange, IndexBinary, IndexBinaryFlat
from ._faiss_lists import IndexBinaryHash, IndexBinaryIVF, hash_stats
from ._faiss_multi_hash import IndexBinaryMultiHash

__all__ = ["DirectMap", "IDSelectorBatch", "IDSelectorRange", "IndexBinary", "IndexBinaryFlat", "IndexBinaryHash",
           "IndexBinaryIVF", "IndexBinaryMultiHash", "cvar", "deserialize_index_binary", "index_binary_factory", "popcount64",
           "read_index_binary", "serialize_index_binary", "write_index_binary"]

#: The counters of hash indexes: nq, n0, nlist, ndis, and reset().
cvar = types.SimpleNamespace(indexBinaryHash_stats=hash_stats)


class DirectMap:
    """Kinds of direct maps, which all mean the same here."""
    NoMap, Array, Hashtable = range(3)


def popcount64(x: int) -> int:
    """The number of bits that are set."""
    return (int(x) & (1 << 64) - 1).bit_count()


def index_binary_factory(d: int, description: str) -> IndexBinary:
    """An index by its description: BFlat, BIVF with a number of lists, or BHash with a number of bits, or of tables and bits.

    >>> from cognate.compat import faiss
    >>> faiss.index_binary_factory(64, "BIVF16").nlist
    16
    >>> faiss.index_binary_factory(64, "BHash4x12").nhash
    4
    """
    kind, number = description.rstrip("0123456789"), description[len(description.rstrip("0123456789")):]
    if description == "BFlat":
        return IndexBinaryFlat(d)
    if kind == "BIVF" and number:
        return IndexBinaryIVF(IndexBinaryFlat(d), d, int(number))
    if kind == "BHash" and number:
        return IndexBinaryHash(d, int(number))
    tables, times, bits = description.removeprefix("BHash").partition("x")
    if description.startswith("BHash") and times and tables.isdecimal() and bits.isdecimal():
        return IndexBinaryMultiHash(d, int(tables), int(bits))
    raise RuntimeError(f"there is no index {description!r}: choose BFlat, BIVF16, BHash12 or BHash4x12, with any numbers")
