"""cognate.compat.faiss next to faiss itself, if that is installed."""
import numpy as np
import pytest

from cognate.compat import faiss as ours

faiss = pytest.importorskip("faiss")


def codes(rows, bits, seed=1):
    return np.random.default_rng(seed).integers(0, 256, (rows, bits // 8), np.uint8)


def sorted_rows(distances, labels):
    """Equal distances come in any order."""
    return [sorted(zip(d, l)) for d, l in zip(distances.tolist(), labels.tolist())]


@pytest.mark.parametrize("bits", [8, 64, 128, 256])
def test_search(bits):
    rows, queries = codes(700, bits), codes(30, bits, 2)
    theirs, own = faiss.IndexBinaryFlat(bits), ours.IndexBinaryFlat(bits)
    for part in rows[:400], rows[400:]:
        theirs.add(part)
        own.add(part)
    assert own.ntotal == theirs.ntotal == 700
    for k in 1, 10:
        expected, found = theirs.search(queries, k), own.search(queries, k)
        assert np.array_equal(expected[0], found[0]) and found[1].dtype == expected[1].dtype
        for query, (distances, labels) in enumerate(zip(*found)):
            assert [int(np.unpackbits(queries[query] ^ rows[label]).sum()) for label in labels] == distances.tolist()


def test_more_neighbours_than_rows():
    theirs, own = faiss.IndexBinaryFlat(64), ours.IndexBinaryFlat(64)
    for index in theirs, own:
        index.add(codes(3, 64))
    expected, found = theirs.search(codes(2, 64, 5), 5), own.search(codes(2, 64, 5), 5)
    assert np.array_equal(expected[0], found[0]) and np.array_equal(expected[1], found[1])
    assert ours.IndexBinaryFlat(64).search(codes(1, 64), 2)[1].tolist() == [[-1, -1]]


@pytest.mark.parametrize("radius", [0, 1, 20, 26])
def test_range_search(radius):
    rows, queries = codes(2000, 64), np.concatenate([codes(10, 64, 3), codes(2000, 64)[:5]])
    theirs, own = faiss.IndexBinaryFlat(64), ours.IndexBinaryFlat(64)
    theirs.add(rows)
    own.add(rows)
    expected, found = theirs.range_search(queries, radius), own.range_search(queries, radius)
    assert np.array_equal(expected[0].astype(np.int64), found[0])
    for i in range(len(queries)):
        part = slice(found[0][i], found[0][i + 1])
        assert sorted(zip(expected[1][part], expected[2][part])) == sorted(zip(found[1][part], found[2][part]))


def test_other_kinds_and_files(tmp_path):
    rows = codes(300, 64)
    flat, inverted, hashed = (ours.IndexBinaryFlat(64), ours.IndexBinaryIVF(ours.IndexBinaryFlat(64), 64, 8),
                              ours.IndexBinaryHash(64, 10))
    for index in flat, inverted, hashed:
        index.train(rows)
        index.add(rows)
        assert index.is_trained and index.search(rows[:9], 1)[1].ravel().tolist() == list(range(9))
    assert np.array_equal(flat.reconstruct(7), rows[7])
    ours.write_index_binary(flat, str(tmp_path / "index"))
    assert np.array_equal(ours.read_index_binary(str(tmp_path / "index")).search(rows, 3)[1], flat.search(rows, 3)[1])
    flat.reset()
    assert flat.ntotal == 0
    with pytest.raises(ValueError):
        flat.add(rows[:, :4])
    with pytest.raises(ValueError):
        ours.IndexBinaryFlat(12)


def test_rows_and_bytes():
    draw = np.random.default_rng(4)
    rows = draw.integers(0, 256, (50, 8), np.uint8)
    for index in (ours.IndexBinaryFlat(64), ours.IndexBinaryIVF(ours.IndexBinaryFlat(64), 64, 4)):
        index.add(rows[:20])
        index.add(rows[20:])
        assert (index.reconstruct_n(15, 10) == rows[15:25]).all()
        assert index.assign(rows, 1).tolist() == list(range(50)) and index.assign(rows, 3).shape == (50, 3)
        copy = ours.deserialize_index_binary(ours.serialize_index_binary(index))
        assert (copy.reconstruct_n(0, 50) == rows).all()
        with pytest.raises(RuntimeError):
            index.reconstruct_n(45, 6)
