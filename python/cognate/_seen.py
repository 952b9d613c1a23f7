"""Texts that have been seen before."""
from __future__ import annotations

import os
from typing import NoReturn

from . import _cognate
from ._inputs import Path


class Seen:
    """Remembers texts and finds the earlier near-duplicate of a new text, exactly, by the measure of ``dedup``.

    Similarity is the Jaccard similarity of word n-grams; texts too short for them are compared by their words. Several
    threads may share an object. With a ``folder`` the terms of the texts are kept there, and the next object continues
    from them; they become durable by ``sync``, after 256 further texts, and at the end of the object.

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
        self._open: object | None = _cognate.seen_open({"threshold": threshold, "ngram": ngram},
                                                        None if folder is None else os.fspath(folder))
        self._threshold = threshold

    @property
    def _handle(self) -> object:
        if self._open is None:
            raise ValueError("this Seen was closed")
        return self._open

    def __call__(self, text: str) -> int | None:
        """The number (from 0) of the most similar earlier text, the first among equals; None if there is none."""
        found = self.match(text)
        return None if found is None else found[0]

    def match(self, text: str) -> tuple[int, float] | None:
        """The number of the most similar earlier text and the similarity; None if there is none."""
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
        """Makes all seen texts durable."""
        _cognate.seen_sync(self._handle)

    def close(self) -> None:
        """Makes all seen texts durable and releases the folder; the end of a ``with`` block does the same."""
        if self._open is not None:
            self.sync()
            self._open = None

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Seen is not pickled: give it a folder, and open the folder once this object is closed")
