"""Sketches of sets and their indexes by the names of datasketch.

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
cognate.dedup and cognate.pairs. Hash values are those of datasketch 2.0 for the same seed, hash function and scheme, so that
sketches of both compare; those of earlier versions are of the scheme "legacy". There are no storage back ends and no GPU; ``prepickle`` and
``hashfunc`` of MinHashLSH, which are about storage, change nothing.
"""
from __future__ import annotations

from ._sketch_forms import LeanMinHash, MinHashLSHForest, WeightedMinHash, WeightedMinHashGenerator, bBitMinHash
from ._sketches import MinHash, MinHashLSH, sha1_hash32, sha1_hash64

__all__ = ["LeanMinHash", "MinHash", "MinHashLSH", "MinHashLSHForest", "WeightedMinHash", "WeightedMinHashGenerator",
           "bBitMinHash", "sha1_hash32", "sha1_hash64"]
