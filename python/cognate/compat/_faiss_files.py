"""Binary indexes as files: a flat index is the .npy file of its rows, which the program `cognate` reads too; the others
are .npz files with their settings, their rows by list, the labels, and the quantizer."""
from __future__ import annotations

import io
import os
import tempfile
import zipfile
from typing import Any

import numpy as np

from .._inputs import Array
from ._faiss_flat import IndexBinary, IndexBinaryFlat
from ._faiss_lists import IndexBinaryHash, IndexBinaryIVF, IndexBinaryLists
from ._faiss_multi_hash import IndexBinaryMultiHash


def _parts(index: IndexBinary) -> dict[str, Any]:
    if isinstance(index, IndexBinaryMultiHash):
        return {"kind": "IndexBinaryMultiHash", "codes": index.reconstruct_n(0, index.ntotal), "nhash": index.nhash,
                "b": index.b, "nflip": index.nflip}
    if not isinstance(index, IndexBinaryLists):
        raise RuntimeError(f"{type(index).__name__} has no file format")
    index._settle()
    parts = {"kind": type(index).__name__, "codes": index._codes[:, :index.code_size], "labels": index._labels,
             "lists": index._lists, "next_label": index._next_label}
    if isinstance(index, IndexBinaryHash):
        return {**parts, "b": index.b, "nflip": index.nflip}
    assert isinstance(index, IndexBinaryIVF)
    return {**parts, "nlist": index.nlist, "nprobe": index.nprobe, "is_trained": index.is_trained,
            "quantizer": serialize_index_binary(index.quantizer)}


def serialize_index_binary(index: IndexBinary) -> Array:
    """The bytes of write_index_binary, uint8."""
    file = io.BytesIO()
    if isinstance(index, IndexBinaryFlat):
        np.save(file, index.reconstruct_n(0, index.ntotal))
    else:
        np.savez(file, **_parts(index))
    return np.frombuffer(file.getvalue(), np.uint8)


def deserialize_index_binary(data: Array) -> IndexBinary:
    """An index of such bytes."""
    return _read(io.BytesIO(np.asarray(data, np.uint8).tobytes()), "these bytes")


def write_index_binary(index: IndexBinary, path: str) -> None:
    """Writes an index, completely or not at all."""
    folder, name = os.path.split(os.path.abspath(path))
    data = serialize_index_binary(index)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=name, delete=False) as file:
        try:
            file.write(data.tobytes())
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def read_index_binary(path: str) -> IndexBinary:
    """An index that write_index_binary has written."""
    with open(path, "rb") as file:
        return _read(file, path)


def _read(file: Any, where: str) -> IndexBinary:
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return _flat_of(loaded)
        parts = {name: loaded[name] for name in loaded}
        return _multi_hash_of(parts) if str(parts["kind"]) == "IndexBinaryMultiHash" else _lists_of(parts)
    except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError) as error:
        raise RuntimeError(f"{where}: no whole index: {error}; write it again by write_index_binary") from error


def _flat_of(rows: Array) -> IndexBinaryFlat:
    if rows.dtype != np.uint8 or rows.ndim != 2:
        raise ValueError("rows are uint8 [rows, bits / 8]")
    index = IndexBinaryFlat(rows.shape[1] * 8)
    index.add(rows)
    return index


def _multi_hash_of(parts: dict[str, Array]) -> IndexBinaryMultiHash:
    codes = parts["codes"]
    if codes.dtype != np.uint8 or codes.ndim != 2:
        raise ValueError("rows are uint8 [rows, bits / 8]")
    index = IndexBinaryMultiHash(codes.shape[1] * 8, int(parts["nhash"]), int(parts["b"]))
    index.nflip = int(parts["nflip"])
    index.add(codes)
    return index


def _lists_of(parts: dict[str, Array]) -> IndexBinaryLists:
    kind, codes = str(parts["kind"]), parts["codes"]
    if codes.ndim != 2 or len({len(parts[name]) for name in ("codes", "labels", "lists")}) != 1:
        raise ValueError("rows, labels and lists differ in number")
    index: IndexBinaryLists
    if kind == "IndexBinaryHash":
        index = hashed = IndexBinaryHash(codes.shape[1] * 8, int(parts["b"]))
        hashed.nflip = int(parts["nflip"])
    elif kind == "IndexBinaryIVF":
        quantizer = deserialize_index_binary(parts["quantizer"])
        index = inverted = IndexBinaryIVF(quantizer, codes.shape[1] * 8, int(parts["nlist"]))
        inverted.nprobe, inverted.is_trained = int(parts["nprobe"]), bool(parts["is_trained"])
    else:
        raise ValueError(f"kind {kind!r}")
    lists = parts["lists"].astype(np.uint64)
    if (lists[1:] < lists[:-1]).any():
        raise ValueError("rows are not in the order of their lists")
    index._store(index._padded(index._checked(codes)), parts["labels"].astype(np.int64), lists)
    index._next_label = int(parts["next_label"])
    return index
