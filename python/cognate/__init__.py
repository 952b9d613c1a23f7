"""Cognate finds documents that say the same thing.

>>> import cognate
>>> texts = ["the quick brown fox jumps over the lazy dog today",
...          "the quick brown fox jumps over the lazy dog today!",
...          "winter storms closed the mountain road for several days"]
>>> cognate.dedup(texts).kept.tolist()
[1, 2]

Functions take lists and generators of texts, NumPy arrays, anything that supports Arrow (pyarrow, pandas, Polars,
DuckDB, Hugging Face datasets), and paths of files. Results are tables that support Arrow. Rows are positions in the
input, from 0.

Options that many functions take, by name:

- how documents are read: text, id, lang (names of columns or fields), format, lines, strict
- how a job runs: threads, memory (bytes, or such as "2G"), progress (True, or a function of stage, done and total)
- how a text becomes terms: tokens, ngram, stem, drop_stop_words, language
- how terms are weighted: weighting, k1, b, min_frequency
- how signatures are made: signature, bits, seed, gaussian, density, value_bits
- how pairs are found: recall, verify, knobs (settings of the method)

The guide is docs/python.md.
"""
import importlib as _importlib
from types import ModuleType as _ModuleType

from . import batch
from ._cognate import version as _version
from ._index import Index
from ._jobs import DedupResult, Explanation, WordMatch, dedup, explain, link, pairs, related, sign
from ._lexicon import Lexicon
from ._seen import Seen
from ._table import Table

__version__: str = _version()
__all__ = ["DedupResult", "Explanation", "Index", "Lexicon", "Seen", "Table", "WordMatch", "batch", "dedup", "explain",
           "link", "pairs", "related", "sign"]


def __getattr__(name: str) -> _ModuleType:
    """Parts that are loaded when they are first used."""
    if name in ("compat", "link_batch", "spark"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
