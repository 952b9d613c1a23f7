"""The single steps of `link`, for programs that spread it over machines (`cognate.spark.link`).

Side 0 has the documents of the lexicon's source language, side 1 those of its target language. The steps: the terms of
the documents (`terms`), which merge to the facts about a side (`Side`); a `Projector` made from both sides; the lengths
of all rows, whose mean the vectors need; vectors; the nearest rows of the other side, block by block (`nearest`), or by
the method window: signatures of vectors (`sign`), a radius, pairs within it (`batch.permute`, `batch.band_pairs`) and
their `cosines`; or by posting lists (`block_starts`, `true_neighbours`, `try_products`, `choose_products`, `propose`,
`keep`); the decision (`decide`). Then, if wanted, the `sentences` of linked documents, which become vectors by the same
steps, and their alignment (`align`). The results are those of `cognate.link`, bit for bit.
"""
from __future__ import annotations

import os
from typing import Any, NamedTuple, Unpack

import numpy as np

from . import _cognate
from ._inputs import Array, Documents, Lists, Path, ReadOptions, lists_of, open_documents, report_of, split_reading
from ._lexicon import Lexicon
from ._table import Table
from .batch import Statistics

__all__ = ["Languages", "Lists", "Neighbours", "Plan", "Projector", "SentenceWriter", "Sentences", "Side", "TargetRows",
           "Terms", "align", "block_starts", "choose_products", "cosines", "decide", "keep", "mean_length", "nearest",
           "plan", "propose", "radius", "radius_rows", "sentences", "sign", "terms", "true_neighbours", "try_products"]

#: Documents that name the language of their side, that of the other side, a third one.
Languages = tuple[int, int, int]


class Terms(NamedTuple):
    """Terms of the documents of a side, or of a part of it."""
    statistics: Statistics  #: those of parts merge
    languages: Languages  #: those of parts add up
    rows: Table  #: row, terms (the hash and the frequency of each term by turns)
    words: Table  #: word: those that the lexicon does not know, each once; of side 1 none


def terms(documents: Documents, lexicon: Lexicon, side: int, **options: Unpack[ReadOptions]) -> Terms:
    """The terms of the documents of a side."""
    read, run = split_reading(options)
    handle = open_documents(documents, read)
    statistics, languages, rows, words, text = _cognate.link_terms(handle, lexicon._handle, side, run)
    return Terms(Statistics(statistics), languages, Table(rows, text, _cognate.documents_skipped(handle)),
                 Table(words, {}, []))


class Side(NamedTuple):
    """Facts about all documents of a side."""
    statistics: Statistics
    languages: Languages
    words: tuple[Array, Array] = (np.zeros(1, np.int64), np.zeros(0, np.uint8))  #: offsets and bytes, of side 0


class Projector:
    """Turns terms into vectors over the terms of the target language. It serves one call at a time."""

    def __init__(self, lexicon: Lexicon, source: Side, target: Side, *, threads: int = 0, **options: Any):
        offsets, words = np.ascontiguousarray(source.words[0], np.int64), np.ascontiguousarray(source.words[1], np.uint8)
        self._handle, text = _cognate.link_projector(
            lexicon._handle, source.statistics._handle, source.languages, target.statistics._handle, target.languages,
            words, offsets, len(offsets) - 1, options, {"threads": threads})
        #: How many terms are known.
        self.report = report_of(text)

    def lengths(self, side: int, rows: Lists) -> Array:
        """The lengths of rows of terms."""
        offsets, items, count = lists_of(rows)
        result = np.empty(count, np.float64)
        _cognate.link_lengths(self._handle, side, offsets, items, count, result)
        return result

    def vectors(self, side: int, rows: Lists, mean: float) -> Table:
        """The vectors of rows of terms: entries (the column above the bits of a float)."""
        return Table(_cognate.link_vectors(self._handle, side, *lists_of(rows), mean), {}, [])


def mean_length(total: float, rows: int) -> float:
    """The mean length, from the sum of the lengths of all rows of a side, added in input order."""
    return total / rows if total > 0 else 1.0


class Plan(NamedTuple):
    """How many neighbours the decision needs."""
    neighbours: tuple[int, int]  #: of a row of either side
    proposals: tuple[int, int]  #: of the method flat: how many of the nearest signatures have their cosines computed; exact: 0


def plan(**options: Any) -> Plan:
    """The options are those of `cognate.link`; the methods are exact, lists, flat and window.

    >>> from cognate import link_batch
    >>> link_batch.plan(method="flat")
    Plan(neighbours=(30, 10), proposals=(128, 128))
    """
    return Plan(*_cognate.link_plan(options))


def nearest(queries: Lists, rows: Lists, side: int, *, threads: int = 0, **options: Any) -> Table:
    """The nearest of some rows of the other side to each vector of a part of a side: query, row, distance, similarity."""
    table, text = _cognate.link_nearest(*lists_of(queries), *lists_of(rows), side, options, {"threads": threads})
    return Table(table, text, [])


def sign(vectors: Lists, **options: Any) -> Array:
    """The signatures of vectors: uint8 [rows, bits / 8]. The options are those of `cognate.link`."""
    offsets, entries, count = lists_of(vectors)
    signatures = np.empty((count, options.get("bits", 1024) // 8), np.uint8)
    _cognate.link_sign(offsets, entries, count, signatures, options)
    return signatures


def radius_rows(documents: int) -> list[int]:
    """The rows of side 0 by which the methods window and lists are planned: 256, or all if there are fewer."""
    return _cognate.link_radius_rows(documents)


class Radius(NamedTuple):
    """The radius within which signatures propose partners."""
    bits: int
    beyond: float  #: the cosine of neighbours that are not found


def radius(distances: Array, **options: Any) -> Radius:
    """From the number of rows of side 1 at each distance to each of `radius_rows`: uint64 [rows, bits + 1]."""
    counts = np.ascontiguousarray(distances, np.uint64)
    return Radius(*_cognate.link_radius(counts, len(counts), options))


def cosines(a_vectors: Lists, b_vectors: Lists, a: Array, b: Array) -> Array:
    """The cosine of row a[i] of the first vectors and row b[i] of the second."""
    result = np.empty(len(a), np.float64)
    _cognate.link_cosines(*lists_of(a_vectors), *lists_of(b_vectors), np.ascontiguousarray(a, np.int64),
                          np.ascontiguousarray(b, np.int64), len(a), result)
    return result


class Neighbours(NamedTuple):
    """The nearest rows of the other side, nearest first: row i has those from offsets[i] to offsets[i + 1] - 1."""
    lengths: Array  #: of all rows of this side, as the projector gives them
    offsets: Array
    rows: Array
    similarities: Array


# ---- Posting lists ---------------------------------------------------------------------------------------------------

class TargetRows(NamedTuple):
    """Facts about all rows of side 1."""
    frequencies: Array  #: uint32, by column: how many rows have it
    blocks: int  #: that the rows are cut into


def block_starts(sizes: Array) -> list[int]:
    """The first rows of the blocks that the rows of side 1 are cut into. ``sizes``: the entries of each row."""
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.uint64)
    return _cognate.link_block_starts(offsets, len(offsets) - 1)


#: By how many true neighbours of each of `radius_rows` posting lists are planned.
TRUE_NEIGHBOURS = 128
TALLY = 18  #: numbers


def true_neighbours(queries: Lists, block: Lists, *, threads: int = 0) -> Table:
    """The nearest rows of a block to each of `radius_rows`, as `nearest` finds them. Of all blocks the first 128 count, by
    similarity rounded to single precision, then row."""
    return nearest(queries, block, 0, threads=threads, method="exact", candidates=TRUE_NEIGHBOURS, hub_neighbours=0)


def try_products(sample: Lists, block: Lists, first: int, truth: Neighbours, target: TargetRows, **options: Any) -> Array:
    """How many of the true neighbours of `radius_rows` a block proposes under each budget of products; tallies of blocks
    add up. ``first``: the first row of the block."""
    tally = np.zeros(TALLY, np.uint64)
    own, columns, blocks = _target(target)
    documents, offsets, rows, similarities = _truth(truth)
    _cognate.link_lists_try(*lists_of(sample), *lists_of(block), own, columns, blocks, first, documents, offsets, rows,
                            similarities, tally, options)
    return tally


class Products(NamedTuple):
    """How many products of terms a document may take."""
    most: float  #: infinity: all
    beyond: float  #: the cosine below which neighbours are not needed


def choose_products(truth: Neighbours, tally: Array, **options: Any) -> Products:
    """From the sum of the tallies of all blocks."""
    return Products(*_cognate.link_lists_plan(*_truth(truth), np.ascontiguousarray(tally, np.uint64), options))


def propose(queries: Lists, block: Lists, target: TargetRows, most: float, **options: Any) -> Table:
    """The rows of a block that rows of side 0 propose: query, row, sum, similarity; by query, then descending sum."""
    return Table(_cognate.link_lists_propose(*lists_of(queries), *lists_of(block), *_target(target), most, options), {}, [])


def keep(rows: Array, blocks: Array, offsets: Array, sums: Array, target: TargetRows, **options: Any) -> Array:
    """How many of the first proposals of each row in each block are kept: those of rows[i] in blocks[i] have the sums
    from offsets[i] to offsets[i + 1] - 1. The blocks of a row ascend."""
    kept = np.zeros(len(rows), np.int64)
    own, numbers, ends = (np.ascontiguousarray(part, np.int64) for part in (rows, blocks, offsets))
    _cognate.link_lists_keep(own, numbers, ends, len(own), np.ascontiguousarray(sums, np.float64), len(sums),
                             target.blocks, kept, options)
    return kept


def _target(target: TargetRows) -> tuple[Array, int, int]:
    frequencies = np.ascontiguousarray(target.frequencies, np.uint32)
    return frequencies, len(frequencies), target.blocks


def _truth(truth: Neighbours) -> tuple[int, Array, Array, Array]:
    return (len(truth.offsets) - 1, np.ascontiguousarray(truth.offsets, np.int64),
            np.ascontiguousarray(truth.rows, np.int64), np.ascontiguousarray(truth.similarities, np.float64))


# ---- The decision ----------------------------------------------------------------------------------------------------

def decide(source: Neighbours, target: Neighbours, *, beyond: float = 0, threads: int = 0, **options: Any) -> Table:
    """The links: from, to, similarity, score, probability. ``beyond``: that of `radius` or of `choose_products`."""
    arrays = []
    for side in (source, target):
        arrays += [len(side.offsets) - 1, *(np.ascontiguousarray(values, kind) for values, kind in
                                            zip(side, (np.float64, np.int64, np.int64, np.float64), strict=True))]
    table, text = _cognate.link_decide(*arrays, beyond, options, {"threads": threads})
    return Table(table, text, [])


# ---- Sentence pairs of links -----------------------------------------------------------------------------------------

def sentences(documents: Documents, lexicon: Lexicon, side: int, **options: Unpack[ReadOptions]) -> Table:
    """The sentences of the documents of a side: row (of the document), text, joined (1: no white space before it)."""
    read, run = split_reading(options)
    table, text = _cognate.sentences_split(open_documents(documents, read), lexicon._handle, side, run)
    return Table(table, text, [])


class Sentences(NamedTuple):
    """The sentences of some documents of a side, document by document."""
    offsets: Array  #: of documents: the sentences before each of them, and their number
    vectors: Lists  #: of sentences
    texts: tuple[Array, Array]  #: offsets and bytes
    joined: Array  #: uint8


def align(source: Sentences, target: Sentences, a: Array, b: Array, *, threshold: float = 0.5) -> tuple[Table, int]:
    """Sentence pairs of the documents a[i] and b[i]: link (i), from, to (texts), similarity, score, hash (equal for
    pairs of the same texts); and the number of cosines that were computed."""
    sides = []
    for side in (source, target):
        documents, joined = np.ascontiguousarray(side.offsets, np.int64), np.ascontiguousarray(side.joined, np.uint8)
        offsets, text = np.ascontiguousarray(side.texts[0], np.int64), np.ascontiguousarray(side.texts[1], np.uint8)
        sides.append((*lists_of(side.vectors), documents, len(documents) - 1, text, offsets, joined))
    found, compared = _cognate.sentences_align(sides[0], sides[1], np.ascontiguousarray(a, np.int64),
                                               np.ascontiguousarray(b, np.int64), len(a), threshold)
    return Table(found, {}, []), compared


class SentenceWriter:
    """Writes sentence pairs as `cognate link --sentences` does: tsv, jsonl or tmx (auto: by the name). The file appears
    when it is complete, at the end of a `with` block without an exception."""

    def __init__(self, lexicon: Lexicon, path: Path, format: str = "auto"):
        self._handle: object = _cognate.sentence_writer(lexicon._handle, format, os.fsencode(path))

    def add(self, source: str, target: str, similarity: float, source_id: str, target_id: str, score: float) -> None:
        """Writes a pair, unless one with these texts was written before."""
        _cognate.sentence_add(self._handle, source, target, similarity, source_id, target_id, score)

    def __enter__(self) -> SentenceWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            _cognate.sentence_finish(self._handle)
        self._handle = None
