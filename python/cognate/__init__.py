"""Cognate finds documents that say the same thing.

>>> import cognate
>>> texts = ["the quick brown fox jumps over the lazy dog today",
...          "the quick brown fox jumps over the lazy dog today!",
...          "winter storms closed the mountain road for several days"]
>>> cognate.dedup(texts).kept.tolist()
[1, 2]

Functions take lists and generators of texts, NumPy arrays, anything that speaks Arrow (pyarrow, pandas, Polars,
DuckDB, Hugging Face datasets), and paths of files. Results are tables that speak Arrow. Rows are positions in the
input, from 0 on.
"""
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
