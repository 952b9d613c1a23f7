"""Rows in executors: documents as the library reads them, and columns of signatures and margins.

Documents are texts, or queries with their clicks: then a text has a line for each URL, `url TAB clicks`, and the library
reads a query log from a file in memory.
"""
from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import _cognate, batch
from .._inputs import open_documents, split
from .._jobs import sign
from ._arrow import Array, numbers

#: Of the options of a job, those that terms and weights have, and not signatures.
_OF_SIGNATURES = ("gaussian", "density")


@contextlib.contextmanager
def documents_in(rows: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The documents of these rows, as arguments of the library."""
    if "clicks" not in rows.schema.names:
        yield rows.select([name for name in ("text", "lang") if name in rows.schema.names]), {}
        return
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".tsv", dir=folder) as file:
        for number, text in enumerate(rows.column("clicks").to_pylist()):
            file.writelines(f"{number}\t{line}\n" for line in text.split("\n"))
        file.flush()
        yield file.name, {"format": "querylog"}


def statistics_in(rows: Any, terms: Mapping[str, Any]) -> batch.Statistics:
    with documents_in(rows) as (documents, reading):
        return batch.Statistics.collect(documents, threads=1, **reading, **terms)


def sign_in(rows: Any, bits: int, seed: int, statistics: batch.Statistics, options: Mapping[str, Any],
            margins: bool) -> tuple[Array, Array | None, Array]:
    """Signatures, margins if requested, and the number of weighted terms of each row."""
    counts = np.ones(rows.num_rows, np.uint32)
    with documents_in(rows) as (documents, reading):
        if not reading:
            given: dict[str, Any] = {**options, "statistics": statistics, "term_counts": counts, "seed": seed, "threads": 1}
            if not margins:
                return sign(documents, "rp", bits, margins=False, **given), None, counts
            return (*sign(documents, "rp", bits, margins=True, **given), counts)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(documents)) as folder:
            read, work, run = split({**reading, **options}, signature="rp", bits=bits, seed=seed)
            paths = [os.path.join(folder, name) for name in ("signatures.npy", "margins.npy")]
            _cognate.sign_files(open_documents(documents, read), statistics._handle, paths[0],
                                paths[1] if margins else None, work, {**run, "threads": 1})
            return np.load(paths[0]), np.load(paths[1]) if margins else None, counts


def measure_in(rows: Any, a: Array, b: Array, statistics: batch.Statistics, options: Mapping[str, Any],
               against: Any = None) -> Array:
    """The cosines of pairs of places in these rows, or in these and the others."""
    own = {name: value for name, value in options.items() if name not in _OF_SIGNATURES}
    with contextlib.ExitStack() as stack:
        documents, reading = stack.enter_context(documents_in(rows))
        other = None if against is None else stack.enter_context(documents_in(against))[0]
        return batch.verify(documents, a, b, against=other, measure="cosine", statistics=statistics, threads=1,
                            **reading, **own)


def signatures_in(table: Any, name: str = "signature") -> Array:
    """A column of signatures as uint8 [rows, bytes]."""
    values = numbers(table, name)
    return values.view(np.uint8).reshape(len(values), -1) if len(values) else np.empty((0, 8), np.uint8)


def signature_column(signatures: Array) -> Any:
    """The rows of an array as a binary column."""
    import pyarrow
    count, width = len(signatures), signatures.shape[1] * signatures.itemsize if signatures.ndim == 2 else 0
    offsets = np.arange(count + 1, dtype=np.int32) * width
    return pyarrow.Array.from_buffers(pyarrow.binary(), count, [None, pyarrow.py_buffer(offsets),
                                                                pyarrow.py_buffer(np.ascontiguousarray(signatures))])
