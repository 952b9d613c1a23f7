"""Jobs over whole collections."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Unpack, overload

import numpy as np

from . import _cognate
from ._inputs import (Array, Documents, JobOptions, LinkRule, ReadOptions, RunOptions, TermOptions, WeightOptions,
                      QueryLog, are_paths, is_signatures, open_documents, report_of, signatures_of, split, wants_ids)
from ._index import Index
from ._lexicon import Lexicon, lexicon_handle
from ._query_log import open_log
from ._table import Table
from .batch import Statistics

Method = Literal["auto", "exact", "flat", "lists", "lsh", "window"]
Measure = Literal["cosine", "jaccard", "containment"]


class SignJobOptions(TermOptions, WeightOptions, ReadOptions, total=False):
    """Options of sign."""
    seed: int
    gaussian: bool
    density: float
    value_bits: int


class LinkOptions(LinkRule, ReadOptions, total=False):
    """Options of link."""
    recall: float
    knobs: dict[str, int]


class ExplainOptions(TermOptions, WeightOptions, RunOptions, total=False):
    """Options of explain."""


class DedupResult:
    """What dedup found."""

    def __init__(self, kept: Table, clusters: Table, pairs: Table):
        self._kept = kept
        #: Positions of the documents that stay, rising. Skipped documents are not among them.
        self.kept: Array = kept["row"]
        #: Clusters of two documents or more: cluster, row, representative, similarity, kept.
        self.clusters = clusters
        #: Removed document, kept twin, similarity.
        self.pairs = pairs
        #: What the job did.
        self.report = clusters.report
        #: Positions of the documents that were skipped: null, no valid text.
        self.skipped = clusters.skipped
        #: The same of the reference collection.
        self.skipped_against = clusters.skipped_against

    def __reduce__(self) -> tuple[Any, ...]:
        return DedupResult, (self._kept, self.clusters, self.pairs)

    def __repr__(self) -> str:
        return f"<cognate.DedupResult: {len(self.kept)} kept, {len(self.pairs)} removed>"


class DedupOptions(JobOptions, total=False):
    """Options of dedup."""
    work: str | os.PathLike[str]  #: a folder for intermediate results, which a later job over the same files takes up
    resume: bool  #: go on where a job in the work folder was stopped
    verdicts: str | os.PathLike[str]  #: a file of decisions made in the report


def dedup(documents: Documents, *, against: Documents | Index = None, threshold: float = 0.8,
          measure: Literal["jaccard", "containment", "cosine"] = "jaccard", method: Method = "auto",
          keep: str = "longest", grouping: Literal["representative", "connected"] = "representative",
          ids: bool = False, **options: Unpack[DedupOptions]) -> DedupResult:
    """Finds near-duplicates, and the document of each cluster to keep.

    Two documents are near-duplicates if the Jaccard coefficient of their sets of word 3-grams is at or above the
    threshold. ``keep`` is longest, first, last, or for tables and files field:NAME (the greatest value) or
    field:NAME:min. ``against`` is a reference collection: documents near one of its documents are removed, and kept
    twins are its rows. It may be an index built with the same measure (rows of twins then count the documents of the
    index that are not removed). With ``ids``, the clusters also have columns of ids. ``work`` is a folder for
    intermediate results, from which ``resume`` continues; ``verdicts`` is a file of decisions. ``help(cognate)`` lists
    the other options.

    >>> import cognate
    >>> result = cognate.dedup(["a b c d e f", "a b c d e f", None, "something else", "a b c d e f g"])
    >>> result.kept.tolist(), result.skipped
    ([3, 4], [2])
    >>> [(removed, kept, round(similarity, 2)) for removed, kept, similarity in result.pairs.rows()]
    [(0, 4, 0.86), (1, 4, 0.86)]
    """
    if not isinstance(keep, str):
        raise TypeError(f"keep is longest, first, last or field:NAME, not {keep!r}")
    rule, _, field = keep.partition(":")
    name, _, order = field.rpartition(":") if field.endswith((":min", ":max")) else (field, "", "max")
    read, work, run = split(options, threshold=threshold, measure=measure, method=method, keep=rule,
                            keep_field=name or None, keep_least=order == "min", grouping=grouping)
    for folder_or_file in ("work", "verdicts"):
        if work.get(folder_or_file) is not None:
            work[folder_or_file] = os.fspath(work[folder_or_file])
    handle = open_documents(documents, read)
    other = _open_against(against, read)
    *tables, text = _cognate.dedup(handle, other, work, wants_ids(ids), run)
    report, skipped, skipped_against = report_of(text), _cognate.documents_skipped(handle), _skipped_against(against, other)
    return DedupResult(*(Table(table, report, skipped, skipped_against) for table in tables))


def _open_against(against: Documents | Index, read: dict[str, Any]) -> object | None:
    """A handle of a second collection or an index; None for None."""
    if isinstance(against, Index):
        return against._handle
    return None if against is None else open_documents(against, read)


def _skipped_against(against: Documents | Index, handle: object) -> list[int]:
    """Skipped documents of a second collection; an index has none."""
    return [] if against is None or isinstance(against, Index) else _cognate.documents_skipped(handle)


def pairs(a: Documents, against: Documents | Index = None, *, threshold: float | None = None, measure: Measure | None = None,
          method: Method = "auto", radius: int | None = None, lexicon: Lexicon | None = None, ids: bool = False,
          **options: Unpack[JobOptions]) -> Table:
    """Finds all pairs at or above the threshold within a collection, or between two: a, b, similarity, distance.

    The measure is the cosine of BM25 vectors, or for sets of word 3-grams the Jaccard coefficient or the containment,
    which is the share of the smaller set that the larger one has. With a lexicon, ``a`` is in its source language and
    ``against`` in its target language. Signatures (uint8 [rows, bits / 8]) are compared within ``radius`` bits.
    ``against`` may be an index of the same measure, whose documents are then the second collection; cosines are
    weighted by the statistics of both. ``help(cognate)`` lists the other options. Without a radius, signatures are
    compared by the cosine that they estimate, at or above the threshold.

    >>> import cognate, numpy as np
    >>> cognate.pairs(np.array([[0], [1], [255]], np.uint8), radius=1)["b"].tolist()
    [1]
    """
    read, work, run = split(options, threshold=threshold, measure=measure, method=method)
    if is_signatures(a):
        if lexicon is not None:
            raise TypeError("a lexicon belongs to documents; signatures have no language")
        if radius is not None and threshold is not None:
            raise TypeError("signatures are compared by a radius or by a threshold, not by both")
        first, rows, bits = signatures_of(a)
        second, other_rows, other_bits = (None, 0, bits) if against is None else signatures_of(against)
        if bits != other_bits:
            raise ValueError(f"signatures of {bits} and of {other_bits} bits do not compare")
        table, text = _cognate.pairs_of_signatures(first, rows, second, other_rows, bits, radius, work, run)
        return Table(table, report_of(text), [])
    if radius is not None:
        raise TypeError("radius compares signatures; documents compare by threshold")
    if lexicon is not None and isinstance(against, Index):
        raise TypeError("a lexicon projects documents, and against is an index")
    if lexicon is not None and against is None:
        raise TypeError("with a lexicon, against has the documents in its target language")
    handle = open_documents(a, read)
    other = _open_against(against, read)
    table, text = _cognate.pairs(handle, other, lexicon_handle(lexicon), work, wants_ids(ids), run)
    return Table(table, report_of(text), _cognate.documents_skipped(handle), _skipped_against(against, other))


def related(log: QueryLog, *, queries: Iterable[str] | str | os.PathLike[str] | None = None, threshold: float = 0.7,
            min_urls: int = 6, ids: bool = True, **options: Unpack[JobOptions]) -> Table:
    """Related queries of a query log: pairs whose vectors of clicked URLs are alike.

    The log is a path or several (Parquet among them), a table with the columns query, url and clicks (or those of AOL's
    log; without clicks each row is one), or rows of (query, url, clicks). A query is named by its text (``a_id``,
    ``b_id``); its number (``a``, ``b``) is the first row that has it, and in files the place among the queries. With
    ``queries`` (texts, or the path of a file with a query per line), only neighbours of these queries: the first of
    each pair is one of them, the second any query of the log.

    >>> import cognate
    >>> log = [(query, f"{site}.org", 2) for query in ("red apples", "apples") for site in "abcdef"]
    >>> table = cognate.related(log)
    >>> table["a_id"].tolist(), table["b_id"].tolist(), table["b"].tolist()
    (['red apples'], ['apples'], [6])
    """
    given, path = None, None
    if isinstance(queries, (str, os.PathLike)):
        path = os.fspath(queries)
    elif queries is not None:
        given = tuple(queries)
    read, work, run = split(options, threshold=threshold, min_urls=min_urls, queries_file=path)
    handle = open_log(log, read)
    table, text = _cognate.related(handle, given, work, wants_ids(ids), run)
    return Table(table, report_of(text), _cognate.documents_skipped(handle))


@overload
def sign(documents: Documents, kind: str = ..., bits: int | None = ..., *, margins: Literal[False] = ...,
         statistics: Statistics | None = ..., term_counts: Array | None = ..., lexicon: Lexicon | None = ...,
         **options: Unpack[SignJobOptions]) -> Array: ...
@overload
def sign(documents: Documents, kind: str = ..., bits: int | None = ..., *, margins: Literal[True],
         statistics: Statistics | None = ..., term_counts: Array | None = ..., lexicon: Lexicon | None = ...,
         **options: Unpack[SignJobOptions]) -> tuple[Array, Array]: ...
def sign(documents: Documents, kind: str = "simhash", bits: int | None = None, *, margins: bool = False,
         statistics: Statistics | None = None, term_counts: Array | None = None, lexicon: Lexicon | None = None,
         **options: Unpack[SignJobOptions]) -> Array | tuple[Array, Array]:
    """Computes signatures, uint8 [rows, bits / 8] in the bit order of numpy.packbits; with margins also float32 [rows,
    bits].

    The kinds are rp, simhash, topsig and minhash. The rows of skipped documents are zeros. ``statistics`` weight the
    terms of rp and topsig (default: those of the documents); ``term_counts`` (uint32 [rows]) receives the number of
    weighted terms of each. With a lexicon, documents of its source language are signed as documents of its target
    language; give both sides the same ``statistics``, and a kind with the terms of the lexicon, such as rp.

    >>> import cognate
    >>> cognate.sign(["one text", "one text", "another text"], bits=64).shape
    (3, 8)
    """
    if isinstance(documents, (str, bytes)) or are_paths(documents):
        raise TypeError("sign takes documents in memory; `cognate sign` signs files")
    if "signature" in options:
        raise TypeError("sign has the argument kind instead of the option signature")
    read, work, run = split(options, signature=kind, bits=bits)
    handle = open_documents(documents, read)
    if lexicon is not None:
        _cognate.documents_project(handle, lexicon_handle(lexicon))
    rows, width = _cognate.documents_count(handle), _cognate.sign_bits(work)
    signatures = np.empty((rows, width // 8), np.uint8)
    sums = np.empty((rows, width), np.float32) if margins else None
    counts = np.empty(rows, np.uint32) if term_counts is None else term_counts
    if not isinstance(counts, np.ndarray) or counts.dtype != np.uint32 or counts.shape != (rows,):
        raise TypeError(f"term_counts is an array of uint32 [{rows}], which the call fills")
    if statistics is not None and not isinstance(statistics, Statistics):
        raise TypeError(f"statistics are a cognate.batch.Statistics, not {statistics!r:.200}")
    _cognate.sign(handle, statistics and statistics._handle, signatures, sums, counts, work, run)
    return signatures if sums is None else (signatures, sums)


def link(source: Documents, target: Documents, *, lexicon: Lexicon, one_to_one: bool = False,
         precision: float | None = None, threshold: float | None = None, k: int | None = None, method: str = "auto",
         ids: bool = False, **options: Unpack[LinkOptions]) -> Table:
    """Finds the partner of each source document among the target documents: from, to, similarity, score, probability.

    Links are kept by the wanted precision (0.98) or, with a threshold, by their cosine; k lists the k best of each
    source document, whatever their probability.
    """
    if sum(rule is not None for rule in (precision, threshold)) > 1 or (k is not None and precision is not None):
        raise ValueError("links are kept by one rule: precision, threshold, or the k best of each document")
    projection = lexicon_handle(lexicon)
    if projection is None:
        raise TypeError("link needs a lexicon: cognate.Lexicon.train makes one from parallel text")
    calibrated = None if threshold is None else False
    read, work, run = split(options, one_to_one=one_to_one, precision=precision, threshold=threshold, k=k,
                            calibrated=calibrated, method=method)
    handle, other = open_documents(source, read), open_documents(target, read)
    table, text = _cognate.link(handle, other, projection, work, wants_ids(ids), run)
    return Table(table, report_of(text), _cognate.documents_skipped(handle), _cognate.documents_skipped(other))


class WordMatch(NamedTuple):
    """A word of one document and the word of the other that it matches."""
    source: str
    target: str
    probability: float  #: of the translation; 1 for a word that stands for itself
    share: float  #: of the similarity


class Explanation(NamedTuple):
    """Why two documents match."""
    similarity: float
    words: list[WordMatch]


def explain(x: str, y: str, *, lexicon: Lexicon | None = None, **options: Unpack[ExplainOptions]) -> Explanation:
    """Why two texts match: their cosine, and the words that it comes from, the largest shares first.

    >>> import cognate
    >>> explanation = cognate.explain("storms closed the mountain road", "the mountain road was closed by snow")
    >>> sorted(word.source for word in explanation.words)
    ['close', 'mountain', 'road']
    """
    for text in (x, y):
        if not isinstance(text, str):
            raise TypeError(f"explain takes two texts, not {text!r:.200}")
    _, work, run = split(options)
    first, second = (_cognate.from_texts((text,), None, None) for text in (x, y))
    similarity, words = _cognate.explain(first, second, lexicon_handle(lexicon), work, run)
    return Explanation(similarity, [WordMatch(*word) for word in words])
