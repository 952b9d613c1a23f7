"""Texts that were seen before."""
from __future__ import annotations

import os

from . import _cognate
from ._inputs import Path


class Seen:
    """Remembers texts and finds the earlier near-duplicate of a new one, as ``dedup`` measures it, exactly.

    Similarity is the Jaccard similarity of word n-grams; texts too short for them are compared by their words. Several
    threads may share an object. With a ``folder`` the texts' terms are kept there and read again by the next object;
    ``sync`` makes them durable, as do 256 further texts, and the end of the object.

    >>> import cognate
    >>> seen = cognate.Seen(threshold=0.5)
    >>> seen("winter storms closed the mountain road on monday")
    >>> seen("an entirely different text about foxes and hens")
    >>> seen("winter storms closed the mountain road on tuesday")
    0
    >>> len(seen)
    3
    """

    def __init__(self, threshold: float = 0.8, *, ngram: int = 3, folder: Path | None = None):
        self._handle = _cognate.seen_open(threshold, ngram, None if folder is None else os.fspath(folder))

    def __call__(self, text: str) -> int | None:
        """The number of the most similar earlier text, from 0 on, the first of equals; None if there is none."""
        found = _cognate.seen_check(self._handle, text)
        return None if found is None else found[0]

    def match(self, text: str) -> tuple[int, float] | None:
        """The same with the similarity."""
        return _cognate.seen_check(self._handle, text)

    def __len__(self) -> int:
        return _cognate.seen_count(self._handle)

    def sync(self) -> None:
        """Makes durable what was seen."""
        _cognate.seen_sync(self._handle)
