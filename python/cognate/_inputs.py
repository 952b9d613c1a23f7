"""Arguments of jobs: documents, signatures, and how to run."""
from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import numpy as np

from . import _cognate

if TYPE_CHECKING:
    import pyarrow

#: Texts, anything that speaks Arrow, paths, or (where it says so) signatures as uint8 [rows, bits / 8].
Documents: TypeAlias = Any
#: Paths, a table with the columns query, url and clicks, or rows of (query, url, clicks).
QueryLog: TypeAlias = Any
Path: TypeAlias = "str | os.PathLike[str]"
Array: TypeAlias = "np.ndarray[Any, Any]"
#: Lists of numbers: offsets, one more than there are lists, and the items of all lists, int64.
Lists: TypeAlias = tuple[Array, Array]
#: Called with the stage, what is done and the total (0 if it is not known); True shows a bar by tqdm.
Progress: TypeAlias = "bool | Callable[[str, int, int], object] | None"


class InputOptions(TypedDict, total=False):
    """How documents are read."""
    text: str  #: the column or field that has the text (default "text"; a table of one column needs no name)
    id: str  #: the one that has the id (default "id")
    lang: str  #: the one that has the language, ISO 639-1 (default "lang")
    format: Literal["auto", "txt", "jsonl", "csv", "tsv", "wikixml", "lett", "querylog", "warc", "wet"]  #: of files
    lines: bool  #: txt: each line is a document
    strict: bool  #: the first bad document is an error


class RunOptions(TypedDict, total=False):
    """How a job runs."""
    threads: int  #: 0: all processors; results do not depend on it
    memory: int | str  #: budget in bytes, or such as "2G"
    progress: Progress


class TermOptions(TypedDict, total=False):
    """How a text becomes terms."""
    tokens: Literal["words", "regex", "chars", "code"]
    ngram: int
    stem: bool
    drop_stop_words: bool
    language: str  #: ISO 639-1, "auto", or "" for none; a document's own language wins


class WeightOptions(TypedDict, total=False):
    """How terms are weighted."""
    weighting: Literal["bm25", "tfidf", "tf", "binary"]
    k1: float
    b: float
    min_frequency: int


class SignatureOptions(TypedDict, total=False):
    """How signatures are made."""
    signature: Literal["rp", "simhash", "topsig", "minhash"]
    bits: int
    seed: int
    gaussian: bool
    density: float
    value_bits: int


class SignOptions(TermOptions, WeightOptions, SignatureOptions, total=False):
    """Everything that a signature depends on."""


class PairOptions(SignOptions, total=False):
    """How pairs are found."""
    recall: float  #: what signatures aim for
    verify: bool  #: False: signatures decide, and similarities are estimates
    knobs: Mapping[str, int]  #: settings of the method, by the program's names


class JobOptions(PairOptions, InputOptions, RunOptions, total=False):
    """Options of a job over documents."""


class ReadOptions(InputOptions, RunOptions, total=False):
    """Options of a job that only reads documents."""


class LinkRule(TypedDict, total=False):
    """How links are found, on one machine and on a cluster."""
    bits: int  #: of the signatures of methods that have them
    candidates: int  #: looked at for each source document
    hub_neighbours: int
    source_given_target: bool
    keep_unknown: bool
    linkers: str
    k1: float
    b: float


Options: TypeAlias = dict[str, Any]
INPUT = InputOptions.__annotations__.keys()
RUN = RunOptions.__annotations__.keys()


def split(options: Mapping[str, Any], **more: Any) -> tuple[Options, Options, Options]:
    """Splits options into those of the input, of the job, and of the run."""
    read = {name: value for name, value in options.items() if name in INPUT}
    work = {name: value for name, value in options.items() if name not in INPUT and name not in RUN}
    run = {name: value for name, value in options.items() if name in RUN}
    knobs = work.pop("knobs", None) or {}
    if not isinstance(knobs, Mapping):
        raise TypeError(f"knobs are a dict of settings of the method, not {type(knobs).__name__}")
    work.update({name.replace("-", "_"): value for name, value in knobs.items()})
    work.update(more)
    run["memory"] = _bytes(run.get("memory"))
    run["progress"] = _progress(run.get("progress"))
    return read, work, run


def split_reading(options: Mapping[str, Any]) -> tuple[Options, Options]:
    """Options of the input and of the run, of a job that has no others."""
    read, work, run = split(options)
    if work:
        raise TypeError(f"unexpected option {min(work)}")
    return read, run


def _bytes(size: int | str | None) -> int | None:
    """
    >>> _bytes("1.5G"), _bytes("300 MB"), _bytes(7)
    (1610612736, 314572800, 7)
    """
    if not isinstance(size, str):
        return size
    text = size.strip().upper().removesuffix("B").strip()
    power = "KMGT".find(text[-1:]) + 1 if text else 0
    try:
        return int(float(text[:-1] if power else text) * 1024 ** power)
    except (ValueError, OverflowError):
        raise ValueError(f"memory of {size!r}: give bytes, or a size such as 2G") from None


def _progress(wanted: Progress) -> Callable[[str, int, int], object] | None:
    if wanted is None or wanted is False:
        return None
    if wanted is not True and not callable(wanted):
        raise TypeError(f"progress is True or a function of stage, done and total, not {wanted!r}")
    return _Bars() if wanted is True else wanted


class _Bars:
    """A bar of tqdm for each stage."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: Any = None
        try:
            import tqdm
        except ImportError:
            raise ImportError("a progress bar needs tqdm: pip install tqdm, or give a function") from None
        self._tqdm: Any = tqdm

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or (self._bar is not None and done < self._bar.n):
            self.close()
            self._stage = stage
            self._bar = self._tqdm.tqdm(desc=stage, total=total or None, unit_scale=True)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    __del__ = close


def flag(value: object, name: str, remedy: str = "") -> bool:
    """
    >>> flag(["a"], "ids", "; a list of ids is no switch")
    Traceback (most recent call last):
        ...
    TypeError: ids is True or False, not ['a']; a list of ids is no switch
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is True or False, not {value!r:.200}{remedy}")
    return bool(value)


def wants_ids(ids: object) -> bool:
    """Whether a result has columns of ids."""
    return flag(ids, "ids", "; ids of documents are a column of a table, which the option id names")


def report_of(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(text)
    return report


_ROWS_AT_A_TIME = 1000  # that are read from a data set that comes as a stream


# ---- Documents -------------------------------------------------------------------------------------------------------

def is_path(source: object) -> bool:
    return isinstance(source, (str, os.PathLike))


def are_paths(source: object) -> bool:
    """A path, or several; a list of str is texts."""
    return is_path(source) or (isinstance(source, (list, tuple)) and bool(source)
                               and all(isinstance(item, os.PathLike) for item in source))


def open_documents(source: Documents, options: Options, ids: Iterable[Any] | None = None,
                   first_number: int = 0) -> object:
    """Opens a handle that borrows the documents."""
    if are_paths(source):
        if ids is not None:
            raise TypeError("the ids of files are those of a field: name it by id")
        if isinstance(source, str) and source != "-" and not os.path.lexists(source):
            raise FileNotFoundError(f"{source[:200]}: there is no such file; a str is a path, and texts are a list of str")
        return _open_paths([os.fspath(item) for item in ([source] if is_path(source) else source)], options)
    source = collected(source)
    _check_documents(source)
    if ids is not None and (hasattr(source, "columns") or hasattr(source, "column_names")):
        raise TypeError("the ids of a table are one of its columns: name it by id")
    stream = None if ids is not None else stream_of(source)
    if stream is not None:
        return _cognate.from_stream(stream, {**_columns(options), "first_number": first_number})
    return _open_texts(source, options, ids, first_number)


def collected(source: Any) -> Any:
    """A lazy frame of Polars as a frame, anything else as it is."""
    return source.collect() if hasattr(source, "collect_schema") and hasattr(source, "collect") else source


def _check_documents(source: Any) -> None:
    """Raises an error for anything that is obviously not a collection of texts, without reading it."""
    if isinstance(source, np.ndarray) and (source.ndim != 1 or source.dtype.kind not in "OSTU"):
        raise TypeError(f"an array of {source.dtype} {list(source.shape)}: documents are an array of texts in one "
                        "dimension, signatures are uint8 [rows, bits / 8]")
    if isinstance(source, Mapping) and _are_datasets(source):
        raise TypeError(f"these are several data sets; name one of {', '.join(map(str, source))}")
    if isinstance(source, (bytes, Mapping)) or not (isinstance(source, Iterable) or speaks_arrow(source)):
        raise TypeError(f"documents are a list of texts, a table, or paths, not {type(source).__name__}")


def _is_dataset(source: Any) -> bool:
    """Whether this is a Dataset or an IterableDataset of the library datasets."""
    return hasattr(source, "with_format") and hasattr(source, "column_names")


def _are_datasets(source: Mapping[Any, Any]) -> bool:
    return bool(source) and all(map(_is_dataset, source.values()))


def speaks_arrow(source: Any) -> bool:
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


def _columns(options: Options) -> Options:
    if "format" in options or "lines" in options:
        raise TypeError("format and lines are about files")
    return options


def stream_of(source: Any) -> object | None:
    """A capsule of an Arrow stream, if the object has one."""
    if _is_dataset(source):
        source = _table_of_dataset(source.with_format("arrow"))
    if hasattr(source, "__arrow_c_stream__"):
        try:
            stream: object = source.__arrow_c_stream__()
        except ImportError:  # pandas without pyarrow
            return None
        return stream
    if hasattr(source, "__arrow_c_array__"):
        schema, array = source.__arrow_c_array__()
        return _cognate.stream_of_array(schema, array)
    return None


def _table_of_dataset(source: Any) -> Any:
    """A table of the rows of a Dataset, or a reader of those of an IterableDataset, which come one batch after another."""
    if hasattr(source, "num_rows"):
        return source[:]
    import pyarrow
    tables = source.iter(batch_size=_ROWS_AT_A_TIME)
    first = next(tables, None)
    if first is None:
        return pyarrow.table({"text": pyarrow.array([], pyarrow.string())})
    batches = (batch for table in itertools.chain([first], tables) for batch in table.to_batches())
    return pyarrow.RecordBatchReader.from_batches(first.schema, batches)


def id_text(item: object) -> str:
    """An id as a text.

    >>> id_text("a"), id_text(b"a"), id_text(7)
    ('a', 'a', '7')
    """
    if item is None:
        raise TypeError("None is no id")
    return item.decode() if isinstance(item, bytes) else str(item)


def _open_texts(source: Any, options: Options, ids: Iterable[Any] | None, first_number: int) -> object:
    for name in ("text", "id", "lang"):
        if name in options:
            raise TypeError(f"{name} names a column or a field, and these documents are a list of texts")
    if options.get("strict"):
        raise TypeError("strict is about tables and files; a list of texts is checked by yourself")
    _columns(options)
    if hasattr(source, "columns"):
        raise TypeError("a data frame of pandas goes in by way of Arrow: pip install pyarrow")
    if hasattr(source, "notna") and hasattr(source, "where"):  # pandas
        source = source.astype(object).where(source.notna(), None)
    as_list = getattr(source, "to_pylist", None) or getattr(source, "tolist", None)
    texts = tuple(as_list() if as_list else source)
    if texts and isinstance(texts[0], Mapping):
        raise TypeError("rows are given as a table, not as a list of dicts: pyarrow.Table.from_pylist makes one")
    names = None if ids is None else tuple(
        str(first_number + row) if item is None else id_text(item) for row, item in enumerate(ids))
    if names is not None and len(names) != len(texts):
        raise ValueError(f"{len(names)} ids for {len(texts)} documents: give one for each")
    if names is None and first_number:
        names = tuple(map(str, range(first_number, first_number + len(texts))))
    return _cognate.from_texts(texts, names, None)


def _open_paths(paths: list[str], options: Options) -> object:
    arrow = [is_arrow_path(path) for path in paths]
    if any(arrow):
        if not all(arrow):
            raise ValueError("Parquet and other files do not mix in one call")
        reader = read_arrow_paths(paths)
        return _cognate.from_stream(reader.__arrow_c_stream__(), _columns(options))
    return _cognate.from_paths(tuple(os.fsencode(path) for path in paths), options)


def is_arrow_path(path: str) -> bool:
    """Parquet files, and folders that datasets.save_to_disk has written."""
    return path.endswith((".parquet", ".pq")) or any(os.path.isfile(os.path.join(path, name)) for name in (
        "state.json", "dataset_dict.json"))


def import_pyarrow() -> Any:
    """The module pyarrow, or an error that names the remedy."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from None
    return pyarrow


def read_arrow_paths(paths: list[str]) -> pyarrow.RecordBatchReader:
    """The tables of these paths, one after another."""
    library = import_pyarrow()
    schema, batches = None, []
    for path in paths:
        own, read = _arrow_batches(path, library)
        if schema is not None and not own.equals(schema):
            raise ValueError(f"{path}: other columns than {paths[0]}, in name, type or order; files that are read "
                             "together have the same")
        schema = own
        batches.append(read)
    every = (batch for read in batches for batch in read)
    reader: pyarrow.RecordBatchReader = library.RecordBatchReader.from_batches(schema, every)
    return reader


def _arrow_batches(path: str, pyarrow: Any) -> tuple[Any, Iterable[Any]]:
    if not os.path.isdir(path):
        file = pyarrow.parquet.ParquetFile(path)
        return file.schema_arrow, file.iter_batches()
    if not os.path.isfile(os.path.join(path, "state.json")):
        with open(os.path.join(path, "dataset_dict.json"), encoding="utf-8") as splits:
            parts = [os.path.join(path, name) for name in json.load(splits)["splits"]]
        raise ValueError(f"{path}: these are several data sets; name one of {', '.join(parts)}")
    with open(os.path.join(path, "state.json"), encoding="utf-8") as state:
        names = [part["filename"] for part in json.load(state)["_data_files"]]
    readers = [pyarrow.ipc.open_stream(os.path.join(path, name)) for name in names]
    return readers[0].schema, (batch for reader in readers for batch in reader)


# ---- Signatures ------------------------------------------------------------------------------------------------------

def is_signatures(source: object) -> bool:
    return isinstance(source, np.ndarray) and source.dtype == np.uint8 and source.ndim == 2


def signatures_of(source: Any) -> tuple[Array, int, int]:
    """The array in one piece, its rows and its bits."""
    if not is_signatures(source):
        raise TypeError(f"signatures are an array of uint8 [rows, bits / 8], not {_named(source)}")
    array = np.ascontiguousarray(source)
    return array, array.shape[0], array.shape[1] * 8


def _named(source: object) -> str:
    return f"{source.dtype} {list(source.shape)}" if isinstance(source, np.ndarray) else type(source).__name__


def lists_of(lists: Lists) -> tuple[Array, Array, int]:
    """The offsets and the items, each in one piece, and the number of lists."""
    offsets, items = (np.ascontiguousarray(part, np.int64) for part in lists)
    if not len(offsets):
        raise ValueError("offsets of lists: none; give one more than there are lists")
    return offsets, items, len(offsets) - 1


def margins_of(margins: Array | None) -> Array | None:
    return None if margins is None else np.ascontiguousarray(margins, np.float32)
