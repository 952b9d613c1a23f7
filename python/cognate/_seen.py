"""Texts that were seen before."""
from __future__ import annotations

import os
from typing import NoReturn

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
    >>> seen
    <cognate.Seen: 3 texts, threshold 0.5>
    """

    def __init__(self, threshold: float = 0.8, *, ngram: int = 3, folder: Path | None = None):
        self._open: object | None = _cognate.seen_open(threshold, ngram, None if folder is None else os.fspath(folder))
        self._threshold = threshold

    @property
    def _handle(self) -> object:
        if self._open is None:
            raise ValueError("this Seen was closed")
        return self._open

    def __call__(self, text: str) -> int | None:
        """The number of the most similar earlier text, from 0 on, the first of equals; None if there is none."""
        found = self.match(text)
        return None if found is None else found[0]

    def match(self, text: str) -> tuple[int, float] | None:
        """The same with the similarity."""
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"a text is a str, not {text!r:.200}")
        return _cognate.seen_check(self._handle, text)

    def __len__(self) -> int:
        return _cognate.seen_count(self._handle)

    def __repr__(self) -> str:
        if self._open is None:
            return "<cognate.Seen: closed>"
        return f"<cognate.Seen: {len(self)} texts, threshold {self._threshold:g}>"

    def sync(self) -> None:
        """Makes durable what was seen."""
        _cognate.seen_sync(self._handle)

    def close(self) -> None:
        """Makes durable what was seen, and lets the folder go; also the end of a ``with`` block."""
        if self._open is not None:
            self.sync()
            self._open = None

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Seen is not pickled: give it a folder, and open the folder once this object is closed")
