"""Single steps of jobs, for programs that spread a job over machines (Spark, Dask, Ray).

Statistics of parts merge. Signatures, keys, term sets and measures of a document depend only on the document, the
options and the statistics. Rows are positions in the batch, from 0; ``skipped`` of a table lists the rows of skipped
documents.
"""
from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from . import _cognate
from ._index import Index
from ._inputs import (Array, Documents, InputOptions, Lists, RunOptions, TermOptions, WeightOptions, is_signatures, lists_of,
                      margins_of, open_documents, report_of, signatures_of, split)
from ._table import Table

__all__ = ["Bands", "JoinPlan", "MemberCounts", "Share", "Statistics", "band_pairs", "bands", "clusters", "index_term_sets",
           "key_pairs", "measure_sets", "measured_share", "permute", "plan_join", "set_keys", "table_keys", "term_sets", "verify"]

Measure = Literal["cosine", "jaccard", "containment"]


class TermJobOptions(TermOptions, InputOptions, RunOptions, total=False):
    """Options of a job over the terms of documents."""


class VerifyOptions(TermJobOptions, WeightOptions, total=False):
    """Options of verify."""


class Statistics:
    """Document and collection frequencies of terms, from which the weights of BM25 and TF-IDF are computed.

    Parts merge to the same bytes as one pass over everything, and objects can be pickled.

    >>> from cognate import batch
    >>> parts = [batch.Statistics.collect([text]) for text in ("a red apple", "a green apple")]
    >>> (parts[0] + parts[1]).to_bytes() == batch.Statistics.collect(["a red apple", "a green apple"]).to_bytes()
    True
    """

    def __init__(self, handle: object, report: dict[str, Any] | None = None):
        self._handle = handle
        self.report = report or {}

    @classmethod
    def collect(cls, documents: Documents, **options: Unpack[TermJobOptions]) -> Statistics:
        """From documents, with the terms of the cosine: stemmed words without stop words."""
        read, work, run = split(options)
        handle, text = _cognate.statistics_collect(open_documents(documents, read), work, run)
        return cls(handle, report_of(text))

    @property
    def documents(self) -> int:
        """How many documents were counted."""
        return _cognate.statistics_documents(self._handle)

    def merge(self, other: Statistics) -> None:
        """Adds the counts of other documents."""
        _cognate.statistics_merge(self._handle, other._handle)

    def __add__(self, other: Statistics) -> Statistics:
        result = Statistics.from_bytes(self.to_bytes())
        result.merge(other)
        return result

    def to_bytes(self) -> bytes:
        """The bytes of a statistics file."""
        return _cognate.statistics_to_bytes(self._handle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Statistics:
        """What to_bytes gave."""
        return cls(_cognate.statistics_from_bytes(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return Statistics.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"<cognate.batch.Statistics of {self.documents} documents>"


def term_sets(documents: Documents, *, measure: Measure = "jaccard", **options: Unpack[TermJobOptions]) -> Table:
    """The sets that dedup compares: row, terms, words (lists of numbers below 2^48), text_bytes, fingerprint.

    Two documents are compared by their terms, or if either has none, by their words, which only short texts have.
    Fingerprints are equal for documents with equal sets, or with equal texts if they have no terms.

    >>> from cognate import batch
    >>> sets = batch.term_sets(["storms closed the mountain road on monday and it stays closed until spring"])
    >>> len(sets["terms"][0]), len(sets["words"][0])
    (11, 13)
    """
    read, work, run = split(options, measure=measure)
    handle = open_documents(documents, read)
    table, text = _cognate.term_sets(handle, work, run)
    return Table(table, text, _cognate.documents_skipped(handle))


def index_term_sets(index: Index, first: int = 0, count: int | None = None, *, measure: Measure = "jaccard",
                    **options: Unpack[TermOptions]) -> Table:
    """The same of documents that an index has: ``count`` from position ``first`` on, or fewer at the end. There is a
    column of ids, and text_bytes is 0. Refuses an index that was built by another measure or other terms.

    >>> import cognate
    >>> from cognate import batch
    >>> index = cognate.Index.build(["storms closed the road", "storms closed the bridge"], measure="jaccard")
    >>> batch.index_term_sets(index, 1)["id"].tolist()
    ['1']
    """
    if first < 0 or (count is not None and count < 0):
        raise ValueError(f"{count} documents from position {first} on: give numbers of 0 or more")
    most = len(index) if count is None else count
    return Table(_cognate.index_term_sets(index._handle, {**options, "measure": measure}, first, most), "{}", [])


class Bands(NamedTuple):
    """Bands of minhash values, as table_keys takes them."""
    tables: int
    band_values: int
    recall: float  #: expected at the threshold


def bands(threshold: float, values: int, *, value_bits: int = 32, recall: float = 0.95) -> Bands:
    """Bands for sets at or above a Jaccard threshold, with the fewest candidates below it.

    >>> from cognate import batch
    >>> batch.bands(0.8, 128)[:2]
    (13, 7)
    """
    return Bands(*_cognate.bands(threshold, values, value_bits, recall))


def table_keys(signatures: Array, *, tables: int, key_bits: int = 0, flips: int = 0,
               flip_mode: Literal["none", "random", "distance", "across"] | None = None, band_values: int = 0,
               value_bits: int = 0, seed: int = 0, margins: Array | None = None, term_counts: Array | None = None,
               flipped: bool = True, threads: int = 0) -> Table:
    """The keys of signatures in hash tables: row, table, key. Rows that share a key in a table are candidates.

    Keys have ``key_bits`` bits; ``flips`` adds flipped keys per table, which need ``margins`` unless the mode is
    random. Or keys are bands of ``band_values`` minhash values of ``value_bits`` bits. Rows whose ``term_counts`` are 0
    have no keys.

    >>> import cognate
    >>> from cognate import batch
    >>> texts = ["storms closed the mountain road on monday", "storms closed the mountain road on monday", "a third"]
    >>> signatures = cognate.sign(texts, "minhash", 32 * 32, value_bits=32)
    >>> keys = batch.table_keys(signatures, tables=8, band_values=4, value_bits=32)
    >>> keys["row"].tolist() == [0] * 8 + [1] * 8 + [2] * 8, (keys["key"][:8] == keys["key"][8:16]).all()
    (True, np.True_)
    """
    array, rows, bits = signatures_of(signatures)
    mode = flip_mode or ("none" if not flips else "random" if margins is None else "distance")
    plan = {"tables": tables, "key_bits": key_bits, "flips": flips, "flip_mode": mode, "band_values": band_values,
            "value_bits": value_bits, "seed": seed}
    counts = None if term_counts is None else np.ascontiguousarray(term_counts, np.uint32)
    table, text = _cognate.table_keys(array, rows, bits, margins_of(margins), counts, plan, flipped,
                                      {"threads": threads})
    return Table(table, text, [])


# ---- Joins of term sets ----------------------------------------------------------------------------------------------

SetMeasure = Literal["jaccard", "containment"]
_MEASURES = {"jaccard": 1, "containment": 2}


def _number_of(measure: str) -> int:
    if measure not in _MEASURES:
        raise ValueError(f"measure has no value {measure!r}; choose one of {', '.join(_MEASURES)}")
    return _MEASURES[measure]


class MemberCounts:
    """The approximate number of sets that each member is in; keys of sets are ordered by it, rare members first.

    Counts affect the cost of a join, never its result. Parts merge.
    """

    def __init__(self, slot_bits: int, frequent_bits: int = 20):
        if not 1 <= slot_bits <= 40 or not 0 <= frequent_bits <= 32:
            raise ValueError(f"slot_bits of {slot_bits} and frequent_bits of {frequent_bits}: choose 1 to 40, and 0 to 32")
        self.slot_bits, self.frequent_bits = slot_bits, frequent_bits
        self.slots = np.zeros(1 << (slot_bits - 1), np.uint8)  #: two slots of 4 bits per byte
        self.frequent = np.zeros(1 << frequent_bits, np.uint32)

    def add(self, sets: Lists) -> None:
        """Counts the members of sets."""
        _cognate.counts_add(self.slots, self.frequent, self.slot_bits, self.frequent_bits, *lists_of(sets))

    def merge(self, other: MemberCounts) -> None:
        """Adds the counts of other sets."""
        if (self.slot_bits, self.frequent_bits) != (other.slot_bits, other.frequent_bits):
            raise ValueError("counts of tables of different sizes do not merge")
        _cognate.counts_merge(self.slots, self.frequent, other.slots, other.frequent, self.slot_bits, self.frequent_bits)


def set_keys(sets: Lists, counts: MemberCounts, *, threshold: float, measure: SetMeasure = "jaccard") -> Table:
    """The keys of sets: row, key, place, size, first, second. Two sets at or above the threshold share a key."""
    return Table(_cognate.set_keys(counts.slots, counts.frequent, counts.slot_bits, counts.frequent_bits, *lists_of(sets),
                                   _number_of(measure), threshold), {}, [])


def key_pairs(keys: Any, first: Any, second: Any, places: Any, sizes: Any, flags: Any, *, threshold: float,
              measure: SetMeasure = "jaccard") -> tuple[Array, Array, int]:
    """Finds the pairs of rows that share a key. Returns their positions a and b, and the number of pairs compared.

    The rows are those of `set_keys`, sorted by key, then size.

    ``flags``: 1 for the second of two collections, 2 to compare across collections only, 4 in keys of words (which have
    bit 48) for sets that have terms, 8 for rows that are compared only with rows before them.

    >>> from cognate import batch
    >>> text = "storms closed the mountain road on monday and it stays closed until spring"
    >>> table = batch.term_sets([text, text + " comes", "a third text"]).to_numpy()
    >>> sets = np.cumsum([0, *map(len, table["terms"])]), np.concatenate(table["terms"])
    >>> counts = batch.MemberCounts(16)
    >>> counts.add(sets)
    >>> keys = batch.set_keys(sets, counts, threshold=0.8).to_numpy()
    >>> order = np.lexsort((keys["size"], keys["key"]))
    >>> columns = [keys[name][order] for name in ("key", "first", "second", "place", "size")]
    >>> a, b, comparisons = batch.key_pairs(*columns, np.zeros(len(order), np.uint8), threshold=0.8)
    >>> keys["row"][order][a].tolist(), keys["row"][order][b].tolist()
    ([0], [1])
    """
    arrays = [np.ascontiguousarray(values, kind) for values, kind in
              ((keys, np.int64), (first, np.int64), (second, np.int64), (places, np.int32), (sizes, np.int32),
               (flags, np.uint8))]
    table, comparisons = _cognate.key_pairs(*arrays, len(arrays[0]), _number_of(measure), threshold)
    found = Table(table, {}, [])
    return found["a"], found["b"], comparisons


def measure_sets(a_terms: Lists, b_terms: Lists, a_words: Lists, b_words: Lists, *,
                 measure: SetMeasure = "jaccard") -> Array:
    """The measure of set i of a and set i of b: by their terms or, if either has none, by their words."""
    lists = [lists_of(sets) for sets in (a_terms, b_terms, a_words, b_words)]
    count = lists[0][2]
    if any(other[2] != count for other in lists):
        raise ValueError("as many sets on both sides, of terms and of words, make pairs")
    similarities = np.empty(count, np.float64)
    _cognate.measure_sets(*(array for offsets, members, _ in lists for array in (offsets, members)), count,
                          _number_of(measure), similarities)
    return similarities


# ---- Joins of signatures ---------------------------------------------------------------------------------------------

class JoinPlan(NamedTuple):
    """How signatures are joined, with the settings that the program would choose."""
    method: str  #: window, lsh or flat
    tables: int  #: window: permutations of the bits; lsh: hash tables
    window: int  #: rows of a window
    shared_window: bool  #: two collections share the rows of a window
    key_bits: int  #: of a key of a hash table
    flips: int  #: extra keys per table, with flipped bits
    flip_mode: Literal["none", "random", "distance", "across"]
    flip_both: bool  #: rows that are looked for have flipped keys too
    radius: int  #: candidates within it get their true measure
    threshold: float  #: true measures at or above it are matches
    expected_recall: float
    comparisons: float  #: expected, of signatures, in the whole join
    margins_per_row: int  #: that keys need, of the first bits; 0: none


def plan_join(rows: int, against: int = 0, *, method: Literal["window", "lsh", "flat"], threshold: float = 0.8,
              recall: float = 0.95, bits: int = 1024, knobs: Mapping[str, int] | None = None) -> JoinPlan:
    """Plans how `pairs` would join `rows` signatures, or `rows` with `against` others.

    Settings that are not given follow from threshold and recall among evenly spread rows.

    >>> from cognate import batch
    >>> plan = batch.plan_join(100_000, method="window", knobs={"window": 500})
    >>> plan.tables, plan.radius
    (17, 235)
    """
    options = {name.replace("-", "_"): value for name, value in (knobs or {}).items()}
    return JoinPlan(**_cognate.plan_join(rows, against, {"method": method, "threshold": threshold, "recall": recall,
                                                         "bits": bits, **options}))


def permute(signatures: Array, *, seed: int = 0, first_table: int = 0, tables: int = 1, threads: int = 0) -> Array:
    """Signatures under the random orders of their bits that joins by windows sort by: uint8 [tables, rows, bits / 8].

    >>> import numpy as np
    >>> from cognate import batch
    >>> signatures = np.array([[15, 0], [255, 1]], np.uint8)
    >>> [int(np.unpackbits(table[0] ^ table[1]).sum()) for table in batch.permute(signatures, tables=3)]
    [5, 5, 5]
    """
    array, rows, bits = signatures_of(signatures)
    permuted = np.empty((max(tables, 0), rows, bits // 8), np.uint8)
    _cognate.permute(array, rows, bits, seed, first_table, tables, permuted, {"threads": threads})
    return permuted


def band_pairs(queries: Array, begins: Any, ends: Any, radius: int, /, rows: Array | None = None, *,
               threads: int = 0) -> Table:
    """Pairs along a band: query i is compared with rows begins[i] to ends[i] - 1; neither array may descend.

    Windows, runs of equal keys and blocks are bands. Without ``rows`` queries are compared with queries. The table has
    query, row and distance of the pairs within the radius.

    >>> import numpy as np
    >>> from cognate import batch
    >>> signatures = np.array([[0], [1], [255], [254]], np.uint8)
    >>> list(batch.band_pairs(signatures, [0, 0, 0, 1], [0, 1, 2, 3], 1).rows())
    [(1, 0, 1), (3, 2, 1)]
    """
    first, count, bits = signatures_of(queries)
    second, other_count, other_bits = (None, 0, bits) if rows is None else signatures_of(rows)
    if bits != other_bits:
        raise ValueError(f"signatures of {bits} and of {other_bits} bits do not compare")
    low, high = (np.ascontiguousarray(bound, np.uint32) for bound in (begins, ends))
    table, text = _cognate.band_pairs(first, count, second, other_count, bits, low, high, radius, {"threads": threads})
    return Table(table, text, [])


class Share(NamedTuple):
    """A measured share, and its 95% interval."""
    share: float
    low: float
    high: float


def measured_share(hits: Any, trials: Any) -> Share:
    """The share of true pairs that was found: ``hits[i]`` of ``trials[i]`` of sampled row i.

    >>> from cognate import batch
    >>> [round(value, 3) for value in batch.measured_share([2, 3, 1], [2, 3, 2])]
    [0.857, 0.429, 0.979]
    """
    found, wanted = (np.ascontiguousarray(numbers, np.uint64) for numbers in (hits, trials))
    if found.shape != wanted.shape or found.ndim != 1:
        raise ValueError("hits and trials are two lists of the same length")
    return Share(*_cognate.measured_share(found, wanted, len(found)))


def _rows(numbers: Any) -> Array:
    given = np.asarray(numbers)
    if given.dtype.kind == "O":  # such as pandas' Int64
        given = np.array([operator.index(number) for number in given], np.int64)
    if given.size and given.dtype.kind not in "iu":
        raise TypeError(f"rows are whole numbers, not {given.dtype}")
    return np.ascontiguousarray(given, np.int64)


def verify(documents: Documents, a: Any, b: Any, /, against: Documents = None, *, measure: Measure = "jaccard",
           statistics: Statistics | None = None, short_texts: bool | None = None,
           **options: Unpack[VerifyOptions]) -> Array:
    """The true measure of given pairs of rows, float64; NaN for a pair with a skipped or missing row.

    Jaccard and containment are computed as in dedup (``short_texts=False``: as in pairs), the cosine as in pairs, with
    the given statistics of the whole collection. For signatures the result is Hamming distances, uint32.

    >>> from cognate import batch
    >>> texts = ["a b c d e f g h i j k l m", "a b c d e f g h i j k l n", None]
    >>> batch.verify(texts, [0, 0], [1, 2]).round(3).tolist()
    [0.833, nan]
    """
    first, second = _rows(a), _rows(b)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError("pairs are two lists of rows, of the same length")
    if is_signatures(documents):
        return _distances(documents, against, first, second)
    read, work, run = split(options, measure=measure, short_texts=short_texts)
    handle = open_documents(documents, read)
    other = None if against is None else open_documents(against, read)
    similarities = np.empty(len(first), np.float64)
    _cognate.verify(handle, other, first, second, len(first), statistics and statistics._handle, similarities, work, run)
    return similarities


def _distances(signatures: Any, against: Any, a: Array, b: Array) -> Array:
    array, rows, bits = signatures_of(signatures)
    other, other_rows, other_bits = (None, 0, bits) if against is None else signatures_of(against)
    if bits != other_bits:
        raise ValueError(f"signatures of {bits} and of {other_bits} bits do not compare")
    distances = np.empty(len(a), np.uint32)
    _cognate.distances(array, rows, other, other_rows, bits, a, b, len(a), distances)
    return distances


def clusters(rows: int, a: Any, b: Any, similarities: Any = None, *, keys: Any = None,
             grouping: Literal["representative", "connected"] = "representative") -> Table:
    """Clusters of given pairs, as dedup makes them: cluster, row, representative, similarity, kept.

    ``keys[row]``: of near-duplicates the one with the greatest key is kept, among equal ones the earlier.

    >>> from cognate import batch
    >>> batch.clusters(4, [0, 1], [1, 3], keys=[1, 5, 1, 2])["representative"].tolist()
    [1, 1, 1]
    """
    if grouping not in ("representative", "connected"):
        raise ValueError(f"grouping {grouping!r}: representative or connected")
    first, second = _rows(a), _rows(b)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError("pairs are two lists of rows, of the same length")
    values = None if similarities is None else np.ascontiguousarray(similarities, np.float64)
    if values is not None and values.shape != first.shape:
        raise ValueError(f"{values.size} similarities of {len(first)} pairs: give one for each")
    try:
        order = None if keys is None else np.ascontiguousarray(keys, np.uint64)
    except OverflowError:
        raise ValueError("keys are whole numbers from 0 to 2^64 - 1") from None
    if order is not None and order.shape != (rows,):
        raise ValueError(f"{order.size} keys of {rows} rows: give one for each")
    return Table(_cognate.clusters(rows, first, second, len(first), values, order, grouping), {}, [])
