"""Indexes: documents or signatures ready to be searched."""
from __future__ import annotations

import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn, Unpack

import numpy as np

from . import _cognate
from ._inputs import (Array, Documents, Path, ReadOptions, SignOptions, id_text, is_signatures, margins_of, open_documents,
                      report_of, signatures_of, split, split_reading, wants_ids)
from ._lexicon import Lexicon, lexicon_handle
from ._table import Table

IndexMethod = Literal["auto", "flat", "slices", "columns", "psm", "bphs", "lsh"]


class BuildOptions(SignOptions, ReadOptions, total=False):
    """Options of Index.build."""
    measure: Literal["cosine", "jaccard", "containment"]  #: jaccard, containment: of the sets that dedup compares
    radius: int  #: psm, bphs: the radius of searches
    vectors: bool  #: False: signatures alone (of jaccard: minhash), and similarities are estimates
    unmeasured: bool  #: True: the recall of searches is not measured at the build
    knobs: Mapping[str, int]


class SearchOptions(ReadOptions, total=False):
    """Options of Index.search."""
    recall: float
    verify: bool
    first: bool
    recall_sample: int  #: queries that are brute-forced to measure the recall (0: the report has that of the build)
    method: str
    knobs: Mapping[str, int]


#: Options of searches that a prepared searcher takes; others need a whole job.
_SEARCHER_OPTIONS = {"recall", "verify", "first", "method"}
_SEARCHERS_MOST = 16  # kinds of searches that an index keeps searchers for
_SINGLE_QUERY_REPORT = '{"queries": 1}'


def _project(documents: object, lexicon: Lexicon | None) -> object:
    """Projects the documents by a lexicon into its target language."""
    if lexicon is not None:
        _cognate.documents_project(documents, lexicon_handle(lexicon))
    return documents


def _refuse_lexicon(lexicon: Lexicon | None) -> None:
    if lexicon is not None:
        raise TypeError("a lexicon belongs to documents; signatures have no language")


def _refuse_ids(ids: Iterable[Any] | None) -> None:
    if ids is not None:
        raise TypeError("signatures have no ids: they are numbered by their positions")



class Index:
    """Documents or signatures ready to be searched, in memory or in a folder.

    Several threads may search while another changes the index: a search sees the state before or after a change, and
    waits for nobody. Changes are made one after another.

    >>> import cognate
    >>> index = cognate.Index.build(["winter storms closed the road", "the quick brown fox", "a storm in winter"])
    >>> index.search("storm in winter", k=1)["row"].tolist()
    [2]
    >>> index.add(["the fox again"])
    >>> index.search("fox", k=2)["row"].tolist()
    [3, 1]
    >>> index.remove([1])
    1
    >>> len(index)
    3
    """

    def __init__(self, handle: object, report: dict[str, Any] | None = None, next_number: int = 0,
                 recall: float | None = None):
        self._open: object | None = handle
        self._next_number = next_number
        self._recall = recall
        self._searchers: dict[tuple[object, ...], object] = {}
        #: What the last change did.
        self.report: dict[str, Any] = report or {}
        #: Positions of the documents that the last build or add skipped: null, no valid text, an id that was used before.
        self.skipped: list[int] = []

    @property
    def _handle(self) -> object:
        if self._open is None:
            raise ValueError("this index was closed")
        return self._open

    def close(self) -> None:
        """Releases the files of the index once running searches are done; the end of a ``with`` block does the same. An
        index that was built in memory and not saved is lost."""
        self._open = None
        self._searchers.clear()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an index is not pickled: save it, and open the folder in the other process")

    def __len__(self) -> int:
        return int(self.info["rows"])

    def __repr__(self) -> str:
        if self._open is None:
            return "<cognate.Index: closed>"
        info = self.info
        if info["measure"] != "cosine":
            return f"<cognate.Index: {info['rows']} {info['holds']}, measure {info['measure']}>"
        return f"<cognate.Index: {info['rows']} {info['holds']}, {info['bits']} bits, method {info['method']}>"

    @property
    def info(self) -> dict[str, Any]:
        """Rows, removed rows, segments, bits, method, and whether it holds documents and vectors."""
        return _cognate.index_info(self._handle)

    @property
    def lexicons(self) -> dict[str, str]:
        """How documents of other languages were projected: maps the code of each language to the language of the index,
        the checksum of the lexicon, and the options."""
        return _cognate.index_lexicons(self._handle)

    @classmethod
    def build(cls, x: Documents, *, method: IndexMethod = "auto", recall: float | None = None,
              ids: Iterable[Any] | None = None, margins: Array | None = None, lexicon: Lexicon | None = None,
              **options: Unpack[BuildOptions]) -> Index:
        """Builds an index in memory of documents, or of signatures, uint8 [rows, bits / 8], which are not copied.

        Ids come from ``ids``, from a column of ids, or are positions. With a lexicon, documents are in its source
        language, and the index is in its target language and records the lexicon; documents whose column of languages
        names the target language are used as they are. With ``measure="jaccard"`` or ``"containment"``, documents are
        kept as the sets of word 3-grams that ``dedup`` compares, and searches are exact. With ``measure="jaccard",
        vectors=False`` the index keeps minhash signatures instead, and similarities are estimates. ``recall`` is the
        default recall of searches of this object (0.95).

        >>> import cognate
        >>> seen = cognate.Index.build(["a b c d e f g h i j k l m n o p q r s t"], measure="jaccard")
        >>> seen.search("a b c d e f g h i j k l m n o p q r s", threshold=0.8)["row"].tolist()
        [0]
        """
        if recall is not None and not isinstance(recall, numbers.Real):
            raise TypeError(f"recall must be a number, not {recall!r:.200}")
        if recall is not None and not 0 <= recall <= 1:
            raise ValueError(f"a recall of {recall}: choose from 0 to 1")
        read, work, run = split(options, method=method)
        if is_signatures(x):
            _refuse_lexicon(lexicon)
            _refuse_ids(ids)
            array, rows, bits = signatures_of(x)
            handle, text = _cognate.index_build_signatures(array, rows, bits, margins_of(margins), work, run)
            return cls(handle, report_of(text), rows, recall)
        if margins is not None:
            raise TypeError("margins belong to signatures; documents bring their own")
        documents = _project(open_documents(x, read, ids), lexicon)
        count = _cognate.documents_count(documents)
        handle, text = _cognate.index_build(documents, work, run)
        index = cls(handle, report_of(text), count, recall)
        index.skipped = _cognate.documents_skipped(documents)
        return index

    @classmethod
    def open(cls, folder: Path) -> Index:
        """Opens the index in a folder; changes are written there."""
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{os.fspath(folder)}: there is no such index")
        handle = _cognate.index_open(os.fsencode(folder))
        info = _cognate.index_info(handle)
        return cls(handle, None, int(info["rows"]) + int(info["removed_rows"]))

    def save(self, folder: Path) -> None:
        """Writes a copy to a folder that holds no index yet, completely or not at all."""
        _cognate.index_save(self._handle, os.fsencode(folder))

    def add(self, x: Documents, *, ids: Iterable[Any] | None = None, lexicon: Lexicon | None = None,
            **options: Unpack[ReadOptions]) -> None:
        """Adds documents or signatures. Documents without ids continue the numbering.

        Documents whose id exists already are skipped; ``report`` counts the added ones. With a lexicon into the
        language of the index, documents are in its source language.
        """
        read, run = split_reading(options)
        if is_signatures(x):
            _refuse_lexicon(lexicon)
            _refuse_ids(ids)
            array, rows, bits = signatures_of(x)
            self.skipped = []
            self.report = report_of(_cognate.index_add_signatures(self._handle, array, rows, bits, run))
            self._next_number += rows
            return
        documents = _project(open_documents(x, read, ids, self._next_number), lexicon)
        self.report = report_of(_cognate.index_add(self._handle, documents, run))
        self.skipped = _cognate.documents_skipped(documents)
        self._next_number += _cognate.documents_count(documents)

    def remove(self, ids: Iterable[Any] | str | int, **options: Unpack[ReadOptions]) -> int:
        """Removes documents by a list of ids, or one document by its id (a number is an id too); returns the number of
        removed documents."""
        _, run = split_reading(options)
        items = [ids] if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable) else ids
        names = tuple(id_text(item).encode() for item in items)
        self.report = report_of(_cognate.index_remove(self._handle, names, run))
        return int(self.report.get("removed", 0))

    def compact(self, **options: Unpack[ReadOptions]) -> None:
        """Merges all segments into one without the removed rows."""
        _, run = split_reading(options)
        self.report = report_of(_cognate.index_compact(self._handle, run))

    def _search_one(self, q: str | Array, near: tuple[Any, Any, Any], ids: bool, lexicon: Lexicon | None,
                    options: Mapping[str, Any]) -> Table | None:
        """The hits of a single query, by the searcher of earlier ones; None if it is not a single query, or if the
        options need a whole job. ``near``: k, threshold and radius."""
        key = (*near, lexicon, *options.items())
        try:
            searchers = self._searchers.get(key)
        except TypeError:  # such as k=[10]: the job says what is wrong
            return None
        if searchers is None:
            if not options.keys() <= _SEARCHER_OPTIONS:
                return None
            wanted = dict(zip(("k", "threshold", "radius"), near, strict=True), **options)
            searchers = _cognate.index_searchers(self._handle, lexicon_handle(lexicon), wanted)
            if len(self._searchers) >= _SEARCHERS_MOST:
                self._searchers.clear()
            self._searchers[key] = searchers
        arrow = _cognate.index_find(searchers, q, ids)
        return None if arrow is None else Table(arrow, _SINGLE_QUERY_REPORT, [])

    def search(self, q: Documents, *, k: int | None = None, threshold: float | None = None, radius: int | None = None,
               margins: Array | None = None, ids: bool = False, lexicon: Lexicon | None = None,
               **options: Unpack[SearchOptions]) -> Table:
        """Finds the k nearest rows of each query (default: 10), or all within a threshold or a radius of bits.

        A query is a text or a signature (uint8 [bits / 8]); several queries are a list or a table, or signatures as the
        index has them. Columns: query, rank, row, similarity, distance, id; ``row`` is the position of a document that
        has no id of its own.

        With a lexicon into the language of the index, queries are in its source language, except those whose column of
        languages names the language of the index.

        A single query reuses what earlier queries have prepared; its recall is not measured.
        """
        if isinstance(q, np.ndarray) and q.dtype == np.uint8:
            _refuse_lexicon(lexicon)
            q = q[None] if q.ndim == 1 else q
        ids = wants_ids(ids)
        if self._recall is not None:
            options.setdefault("recall", self._recall)
        if margins is None and isinstance(q, (str, np.ndarray)):
            found = self._search_one(q, (k, threshold, radius), ids, lexicon, options)
            if found is not None:
                return found
        read, work, run = split(options, k=k, threshold=threshold, radius=radius)
        if is_signatures(q):
            array, rows, bits = signatures_of(q)
            table, text = _cognate.index_search_signatures(self._handle, array, rows, bits, margins_of(margins), work,
                                                           run)
            return Table(table, text, [])
        documents = _cognate.from_texts((q,), None, None) if isinstance(q, str) else open_documents(q, read)
        table, text = _cognate.index_search(self._handle, _project(documents, lexicon), work, ids, run)
        return Table(table, text, _cognate.documents_skipped(documents))
