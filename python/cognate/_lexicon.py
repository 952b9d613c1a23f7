"""Word-translation tables."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Unpack

from . import _cognate
from ._inputs import Path, RunOptions, is_path, report_of, split


class LexiconOptions(RunOptions, total=False):
    """Options of Lexicon.train."""
    format: Literal["auto", "tsv", "text", "tmx", "po"]
    max_entries: int
    mass: float
    model1_iterations: int
    agreement_iterations: int
    null_probability: float
    diagonal: float
    min_count: int
    max_words: int
    stem: bool


class Translation(NamedTuple):
    """A word and one of its translations."""
    source: str
    target: str
    probability: float  #: p(target | source)
    backward: float  #: p(source | target)


class Lexicon:
    """A word-translation table from one language to another."""

    def __init__(self, handle: object, report: dict[str, Any] | None = None):
        self._handle = handle
        #: The checksum is what an index remembers of the lexicon.
        self.source, self.target, self.words, self.entries, self.checksum = _cognate.lexicon_info(handle)
        #: What training did.
        self.report = report or {}

    def __repr__(self) -> str:
        return f"<cognate.Lexicon: {self.source} to {self.target}, {self.words} words, {self.entries} translations>"

    @classmethod
    def train(cls, pairs: Iterable[tuple[str, str]] | Path, source: str, target: str,
              **options: Unpack[LexiconOptions]) -> Lexicon:
        """Trains a lexicon on parallel text: pairs of sentences, or a path (or several) of tsv, tmx or po files.

        >>> import cognate
        >>> pairs = [("das Haus", "the house"), ("das Buch", "the book"), ("ein Haus", "a house"), ("ein Buch", "a book")]
        >>> lexicon = cognate.Lexicon.train(pairs * 5, "de", "en")
        >>> lexicon.translate("Haus")[0].target
        'hous'
        """
        format = options.get("format")  # the format of files, not an input option
        _, work, run = split({name: value for name, value in options.items() if name != "format"}, source=source,
                             target=target, format=format)
        if is_path(pairs):
            return cls._train([os.fspath(pairs)], work, run)  # type: ignore[arg-type]
        if hasattr(pairs, "columns") or hasattr(pairs, "column_names"):
            raise TypeError("parallel text is pairs of str, or paths, not a table; two columns are paired by zip(a, b)")
        if isinstance(pairs, Mapping) or not isinstance(pairs, Iterable):
            raise TypeError(f"parallel text is pairs of str, or paths, not {type(pairs).__name__}")
        items = list(pairs)
        if items and all(is_path(item) for item in items):
            return cls._train([os.fspath(item) for item in items], work, run)  # type: ignore[call-overload]
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8", errors="surrogatepass",
                                         newline="\n") as file:
            for first, second in map(_sentences, items):
                file.write(f"{first}\t{second}\n")
            file.flush()
            return cls._train([file.name], work, run)

    @classmethod
    def _train(cls, paths: list[str], work: dict[str, Any], run: dict[str, Any]) -> Lexicon:
        handle, text = _cognate.lexicon_train(tuple(os.fsencode(path) for path in paths), work, run)
        return cls(handle, report_of(text))

    @classmethod
    def open(cls, path: Path) -> Lexicon:
        """Opens a file that save or `cognate lexicon` has written."""
        return cls(_cognate.lexicon_open(os.fsencode(path)))

    def save(self, path: Path) -> None:
        """Writes a file, completely or not at all."""
        _cognate.lexicon_save(self._handle, os.fsencode(path))

    def to_bytes(self) -> bytes:
        """The bytes of the file that save would write."""
        return _cognate.lexicon_to_bytes(self._handle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Lexicon:
        """Opens the bytes of to_bytes, or of a file."""
        return cls(_cognate.lexicon_from_bytes(data))

    def __reduce__(self) -> tuple[Any, ...]:
        return Lexicon.from_bytes, (self.to_bytes(),)

    def translate(self, text: str) -> list[Translation]:
        """The translations of the words of a text, the best of each first."""
        return [Translation(*item) for item in _cognate.lexicon_translate(self._handle, text)]


def lexicon_handle(lexicon: Lexicon | None) -> object | None:
    """The library's handle of a lexicon; None for None."""
    if lexicon is None or isinstance(lexicon, Lexicon):
        return lexicon and lexicon._handle
    raise TypeError(f"lexicon is a cognate.Lexicon, from Lexicon.train or Lexicon.open, not {lexicon!r}")


def _sentences(item: Any) -> tuple[str, str]:
    """A pair of sentences, each on one line."""
    if not isinstance(item, (tuple, list)) or len(item) != 2 or not all(isinstance(text, str) for text in item):
        raise TypeError(f"parallel text is pairs of str, or paths, not {item!r:.200}; two columns are paired by zip(a, b)")
    return " ".join(item[0].split()), " ".join(item[1].split())
