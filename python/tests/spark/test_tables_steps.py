"""The steps of joins by keys without a cluster: pairs that share a key, by brute force, however keys are cut into blocks."""
import numpy as np
import pyarrow as pa
import pytest

import cognate
from cognate import batch
from cognate.spark import _tables
from cognate.spark._rows import signature_column
from test_windows_steps import batches_of, families

RADIUS = 20


def rows_of(sides, margins=None):
    return pa.Table.from_batches([pa.record_batch({
        "side": pa.array(np.full(len(signatures), side, np.int32)), "row": pa.array(np.arange(len(signatures))),
        "signature": signature_column(signatures),
        "margins": signature_column(np.zeros((len(signatures), 0)) if margins is None else margins[side])})
        for side, signatures in enumerate(sides)])


def join(emitted, heavy, cross, flip_both, draw):
    placed = pa.Table.from_batches(_tables.place(batches_of(emitted, draw), heavy, cross))
    ordered = placed.sort_by([(name, "ascending") for name in _tables.ORDER])
    found = pa.Table.from_batches(_tables.walk(iter(ordered.combine_chunks().to_batches()), RADIUS, cross, flip_both))
    pairs = found.filter(pa.compute.is_valid(found["a"]))
    compared = found.filter(pa.compute.is_null(found["a"]))["b"].to_numpy().sum()
    return sorted(set(zip(*pairs.to_pydict().values()))), compared


@pytest.mark.parametrize("blocks", [None, (1, 1), (3, 2)])
@pytest.mark.parametrize("cross", [False, True])
def test_brute_force(blocks, cross):
    draw = np.random.default_rng(1)
    sides = [families(300, 1), families(120, 1)] if cross else [families(300, 1)]
    emitted = pa.Table.from_batches(_tables.everything(batches_of(rows_of(sides), draw)))
    pairs, compared = join(emitted, {} if blocks is None else {(0, 0): blocks}, cross, False, draw)
    table = cognate.pairs(*sides, radius=RADIUS, method="flat")
    assert len(pairs) > 100 and pairs == list(zip(*(table[name].tolist() for name in ("a", "b", "distance"))))
    assert compared == (300 * 120 if cross else 300 * 299 // 2)


@pytest.mark.parametrize("flip_both", [False, True])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("mode", ["none", "random", "distance", "across"])
def test_keys(mode, cross, flip_both):
    draw = np.random.default_rng(2)
    sides = [families(240, 1), families(120, 1)] if cross else [families(240, 1)]
    flips = 0 if mode == "none" else 2
    keys = _tables.Keys(6, 12, flips, mode, flip_both, 4, cross)
    margins = [(np.unpackbits(side, axis=1)[:, :24] * 2.0 - 1).astype(np.float32) * draw.random((len(side), 24), np.float32)
               for side in sides]
    emitted = pa.Table.from_batches(_tables.emit(batches_of(rows_of(sides, margins), draw), keys))
    counts = emitted.group_by(["table", "key"]).aggregate([("row", "count")]).sort_by([("row_count", "descending")])
    heavy = {(row["table"], row["key"]): (3, 2) for row in counts.slice(0, 5).to_pylist()}
    found = [join(emitted, cut, cross, flip_both, draw)[0] for cut in ({}, heavy)]
    assert found[0] == found[1] == expected(sides, margins, keys, cross, flip_both)
    assert len(found[0]) > 50


def expected(sides, margins, keys, cross, flip_both):
    """A query's keys, flipped ones too, meet the own keys of a row, and its flipped ones if both sides flip."""
    def of(side, flipped):
        padded = np.zeros((len(sides[side]), 128), np.float32)
        padded[:, :24] = margins[side]
        table = batch.table_keys(sides[side], tables=keys.tables, key_bits=keys.key_bits, flips=keys.flips,
                                 flip_mode=keys.flip_mode, seed=keys.seed,
                                 margins=padded if keys.flip_mode in ("distance", "across") else None,
                                 flipped=flipped)
        result = [set() for _ in sides[side]]
        for row, number, key in table.rows():
            result[row].add((number, key))
        return result
    asked, own = of(0, True), of(len(sides) - 1, flip_both)
    pairs = set()
    for a, wanted in enumerate(asked):
        for b, there in enumerate(own):
            if (cross or a != b) and wanted & there:
                distance = int(np.unpackbits(sides[0][a] ^ sides[-1][b]).sum())
                if distance <= RADIUS:
                    pairs.add((a, b, distance) if cross else (min(a, b), max(a, b), distance))
    return sorted(pairs)
