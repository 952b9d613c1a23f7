"""The steps of joins by windows without a cluster: the pairs of one machine, however parts and stretches are cut."""
import numpy as np
import pyarrow as pa
import pytest

import cognate
from cognate.spark import _windows
from cognate.spark._rows import signature_column


def families(rows, seed, bits=128):
    """Signatures of families, some rows equal."""
    draw = np.random.default_rng(seed)
    heads = draw.integers(0, 256, (rows // 6 + 1, bits // 8), np.uint8)
    own = heads[draw.integers(0, len(heads), rows)]
    flips = draw.random((rows, bits)) < draw.choice([0, 0.01, 0.05, 0.1], rows)[:, None]
    return np.packbits(np.unpackbits(own, axis=1) ^ flips, axis=1)


def batches_of(table, draw):
    """The rows of a table in batches of random sizes."""
    cuts = np.unique(draw.integers(0, table.num_rows + 1, 7))
    for begin, end in zip([0, *cuts], [*cuts, table.num_rows]):
        if end > begin:
            yield pa.record_batch(table.slice(begin, end - begin).combine_chunks().to_batches()[0])


def join(first, second, windows, parts, draw):
    """Every step as Spark runs it, in one process, with stretches cut at random."""
    sides = [(0, first)] if second is None else [(0, first), (1, second)]
    rows = pa.Table.from_batches([pa.record_batch({
        "side": pa.array(np.full(len(signatures), side, np.int32)), "row": pa.array(np.arange(len(signatures))),
        "signature": signature_column(signatures)}) for side, signatures in sides])
    splits = _windows.splits_of(first[:300], windows.tables, windows.seed, parts)
    emitted = pa.Table.from_batches(_windows.emit(batches_of(rows, draw), windows.seed, splits))
    ordered = emitted.sort_by([(name, "ascending") for name in _windows.ORDER])
    chunks = pa.Table.from_batches(_windows.place(batches_of(ordered, draw), windows.cross))
    counts = chunks.group_by(["part", "side"]).aggregate([("row", "count")]).to_pydict()
    sizes = {(part, side): n for part, side, n in zip(counts["part"], counts["side"], counts["row_count"])}
    offsets, whole = _windows.offsets_of(sizes, windows.tables, parts)
    found = []
    stretches = list(batches_of(chunks, draw))
    for task in range(3):  # each task has some of the batches, and gaps between them
        found += _windows.detect(iter(stretches[task::3]), windows, whole)
    table = pa.Table.from_batches(found)
    seams = table.filter(pa.compute.equal(table["kind"], _windows.SEAM))
    seams = seams.append_column("table", pa.array(seams["part"].to_numpy() // parts))
    seams = seams.append_column("place", pa.compute.add(seams["rank"], seams["others"]))
    seams = seams.sort_by([(name, "ascending") for name in ("table", "part", "place")])
    table = pa.Table.from_batches([*table.to_batches(),
                                   *_windows.meet_at_seams(iter(seams.combine_chunks().to_batches()), windows, offsets)])
    pairs = table.filter(pa.compute.equal(table["kind"], _windows.PAIR)).select(["a", "b", "distance"])
    compared = table.filter(pa.compute.equal(table["kind"], _windows.COUNT))["a"].to_numpy().sum()
    return sorted(set(zip(*pairs.to_pydict().values()))), compared, seams.num_rows


@pytest.mark.parametrize("parts", [1, 2, 9])
@pytest.mark.parametrize("cross, shared", [(False, False), (True, False), (True, True)])
def test_pairs_of_one_machine(parts, cross, shared):
    draw = np.random.default_rng(parts)
    first, second = families(700, 1), families(300, 1) if cross else None
    for tables, window in (5, 20), (3, 1), (1, 400):
        windows = _windows.Windows(tables, window, shared, 20, 7, cross)
        pairs, compared, seams = join(first, second, windows, parts, draw)
        table = cognate.pairs(first, second, radius=20, method="window", seed=7,
                              knobs={"tables": tables, "window": window, **({"shared_window": 1} if shared else {})})
        expected = list(zip(table["a"].tolist(), table["b"].tolist(), table["distance"].tolist()))
        assert expected and pairs == expected
        assert compared == table.report["comparisons"]
        assert seams > 0


def test_one_stretch_has_no_seams():
    windows = _windows.Windows(2, 10, False, 20, 0, False)
    chunks = pa.record_batch({"part": pa.array([0] * 50, pa.int32()), "side": pa.array([0] * 50, pa.int32()),
                              "row": pa.array(range(50)), "signature": signature_column(families(50, 3)),
                              "rank": pa.array(range(50)), "others": pa.array([0] * 50)})
    found = pa.Table.from_batches(_windows.detect(iter([chunks]), windows, {0: 50}))
    assert set(found["kind"].to_pylist()) == {_windows.PAIR, _windows.COUNT}
    found = pa.Table.from_batches(_windows.detect(iter([chunks]), windows, {0: 51}))
    assert found["kind"].to_pylist().count(_windows.SEAM) == 20
