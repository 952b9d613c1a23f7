"""cognate.compat.faiss next to faiss itself, if that is installed."""
import numpy as np
import pytest

from cognate.compat import faiss as ours

faiss = pytest.importorskip("faiss")
faiss.omp_set_num_threads(1)


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


def near_rows(rows, bits, seed=1):
    """Rows around few centres, so that lists and buckets have something to find."""
    draw = np.random.default_rng(seed)
    noise = np.packbits(draw.random((rows, bits)) < 0.08, axis=1)
    return codes(40, bits, 9)[draw.integers(0, 40, rows)] ^ noise


def lists(bits, rows, nlist=16):
    """An inverted file and a hash index of the same rows."""
    inverted, hashed = ours.IndexBinaryIVF(ours.IndexBinaryFlat(bits), bits, nlist), ours.IndexBinaryHash(bits, 8)
    assert not inverted.is_trained
    inverted.train(rows)
    for index in inverted, hashed:
        for part in rows[:100], rows[100:]:
            index.add(part)
        assert index.ntotal == len(rows) and index.is_trained
    return inverted, hashed


def distances_between(queries, rows):
    return np.unpackbits(queries[:, None] ^ rows, axis=2).sum(axis=2, dtype=np.int32)


@pytest.mark.parametrize("bits", [8, 24, 64, 136])
def test_all_lists_are_brute_force(bits):
    rows, queries = near_rows(3000, bits), near_rows(40, bits, 2)
    inverted, hashed = lists(bits, rows)
    inverted.nprobe, hashed.nflip = 16, 8
    exact = distances_between(queries, rows)
    for index in inverted, hashed:
        distances, labels = index.search(queries, 25)
        assert np.array_equal(distances, np.sort(exact, axis=1)[:, :25])
        assert np.array_equal(np.take_along_axis(exact, labels, axis=1), distances)
        assert all(len(set(row)) == 25 for row in labels.tolist())
        radius = bits // 5 + 1
        limits, distances, labels = index.range_search(queries, radius)
        for i, found in enumerate(np.split(labels, limits[1:-1])):
            assert sorted(found.tolist()) == np.flatnonzero(exact[i] < radius).tolist()
        assert np.array_equal(distances, exact[np.repeat(np.arange(40), np.diff(limits)), labels])


def test_more_lists_find_more():
    """Each query sees the rows of its lists and buckets alone, as brute force over these has them."""
    rows, queries = near_rows(5000, 64), near_rows(50, 64, 3)
    inverted, hashed = lists(64, rows)
    exact = distances_between(queries, rows)
    centres = distances_between(queries, inverted.quantizer.reconstruct_n(0, 16))
    home = inverted.quantizer.search(rows, 1)[1][:, 0]
    flips = distances_between(queries[:, :1], rows[:, :1])
    found = {}
    for nprobe in 1, 2, 5, 16:
        inverted.nprobe = nprobe
        probed = np.argsort(centres, axis=1, kind="stable")[:, :nprobe]
        seen = (home[None, :, None] == probed[:, None, :]).any(axis=2)
        expected = np.sort(np.where(seen, exact, 999), axis=1)[:, :10]
        distances, labels = inverted.search(queries, 10)
        assert np.array_equal(np.where(labels < 0, 999, distances), expected)
        found["nprobe", nprobe] = int((distances == np.sort(exact, axis=1)[:, :10]).sum())
    for nflip in 0, 1, 3, 8:
        hashed.nflip = nflip
        expected = np.sort(np.where(flips <= nflip, exact, 999), axis=1)[:, :10]
        ours.cvar.indexBinaryHash_stats.reset()
        distances, labels = hashed.search(queries, 10)
        assert np.array_equal(np.where(labels < 0, 999, distances), expected)
        assert ours.cvar.indexBinaryHash_stats.ndis == np.count_nonzero(flips <= nflip)
        found["nflip", nflip] = int((distances == np.sort(exact, axis=1)[:, :10]).sum())
    assert found["nprobe", 1] < found["nprobe", 5] <= found["nprobe", 16] == 500
    assert found["nflip", 0] < found["nflip", 1] < found["nflip", 8] == 500


def test_buckets_and_recall_are_those_of_faiss():
    rows, queries = near_rows(4000, 64), near_rows(60, 64, 5)
    own, theirs = ours.IndexBinaryHash(64, 12), faiss.IndexBinaryHash(64, 12)
    for index in own, theirs:
        index.add(rows)
    assert own.hashtable_size() == theirs.hashtable_size()
    for nflip in 0, 1, 2, 4:
        own.nflip = theirs.nflip = nflip
        assert np.array_equal(own.search(queries, 10)[0], theirs.search(queries, 10)[0])
        assert np.array_equal(own.range_search(queries, 9)[0], theirs.range_search(queries, 9)[0].astype(np.int64))
    truth = np.sort(distances_between(queries, rows), axis=1)[:, :10]
    shares = []
    for module in ours, faiss:
        index = module.IndexBinaryIVF(module.IndexBinaryFlat(64), 64, 32)
        index.cp.min_points_per_centroid = 5
        index.train(rows)
        index.add(rows)
        index.nprobe = 3
        shares.append(float((index.search(queries, 10)[0] == truth).mean()))
    assert shares[0] > shares[1] - 0.1, shares


def test_rows_come_and_go(tmp_path):
    rows = near_rows(600, 64)
    flat = ours.IndexBinaryFlat(64)
    flat.add(rows)
    for index in lists(64, rows):
        index.nprobe, index.nflip = 16, 8
        assert index.remove_ids(np.array([5, 7, 9999])) == 2 and index.ntotal == 598
        assert index.remove_ids(ours.IDSelectorRange(10, 20)) == 10
        assert not set(index.search(rows[:30], 50)[1].ravel()) & {5, 7, *range(10, 20)}
        assert index.search(rows[[30]], 1)[0].tolist() == [[0]] and np.array_equal(index.reconstruct(30), rows[30])
        index.add_with_ids(rows[[5]], [7000])
        assert 7000 in index.search(rows[[5]], 600)[1] and np.array_equal(index.reconstruct(7000), rows[5])
        for call in (lambda: index.reconstruct(12), lambda: index.reconstruct_n(8, 4)):
            with pytest.raises(RuntimeError):
                call()
        with pytest.raises(ValueError):
            index.add_with_ids(rows[:2], [1])
        index.reset()
        assert index.ntotal == 0 and index.search(rows[:1], 2)[1].tolist() == [[-1, -1]]
        assert index.range_search(rows[:1], 9)[0].tolist() == [0, 0]
        index.add(rows[:3])
        assert index.search(rows[2:3], 1)[1].tolist() == [[2]]
    assert flat.remove_ids(ours.IDSelectorBatch([0, 2])) == 2
    assert flat.ntotal == 598 and np.array_equal(flat.reconstruct(0), rows[1])
    with pytest.raises(RuntimeError):
        ours.IndexBinaryIVF(ours.IndexBinaryFlat(64), 64, 4).add(rows)
    with pytest.raises(RuntimeError):
        ours.IndexBinaryIVF(ours.IndexBinaryFlat(64), 64, 4).train(rows[:3])
    with pytest.raises(ValueError):
        ours.IndexBinaryHash(64, 65)


@pytest.mark.parametrize("d, nhash, b", [(64, 4, 12), (72, 3, 24), (64, 1, 64), (128, 10, 9)])
def test_several_hash_tables_are_those_of_faiss(d, nhash, b):
    rows, queries = near_rows(1500, d), near_rows(40, d, 5)
    own, theirs = ours.IndexBinaryMultiHash(d, nhash, b), faiss.IndexBinaryMultiHash(d, nhash, b)
    assert own.search(queries, 3)[1].max() == -1 and own.hashtable_size() == 0
    for index in own, theirs:
        index.add(rows[:1000])
        index.search(queries, 1)
        index.add(rows[1000:])
    assert own.hashtable_size() == theirs.hashtable_size() and own.ntotal == 1500
    for nflip in 0, 1, 2:
        own.nflip = theirs.nflip = nflip
        distances, labels = own.search(queries, 10)
        assert np.array_equal(distances, theirs.search(queries, 10)[0])
        there = labels >= 0
        exact = distances_between(queries, rows)
        assert np.array_equal(np.take_along_axis(exact, labels, axis=1)[there], distances[there])
        limits, near, found = own.range_search(queries, d // 4)
        their_limits, _, their_found = theirs.range_search(queries, d // 4)
        assert np.array_equal(limits, their_limits.astype(np.int64)) and (limits[-1] > 0 or b == d)
        for i in range(len(queries)):
            part = slice(limits[i], limits[i + 1])
            assert set(found[part]) == set(their_found[part]) and (np.diff(near[part]) >= 0).all()
    own.reset()
    assert own.ntotal == 0
    for wrong in (64, 0, 4), (64, 5, 13), (128, 1, 65):
        with pytest.raises(ValueError):
            ours.IndexBinaryMultiHash(*wrong)


def test_files(tmp_path):
    rows, path = near_rows(300, 72), str(tmp_path / "index")
    flat = ours.IndexBinaryFlat(72)
    flat.add(rows)
    tables = ours.index_binary_factory(72, "BHash3x9")
    tables.add(rows)
    for index in (flat, tables, *lists(72, rows)):
        index.nprobe = index.nflip = 2
        ours.write_index_binary(index, path)
        copy = ours.read_index_binary(path)
        assert type(copy) is type(index) and copy.ntotal == 300
        for first, second in zip(index.search(rows, 5), copy.search(rows, 5)):
            assert np.array_equal(first, second)
        copy.add(rows[:1])
        assert copy.reconstruct(300).tolist() == rows[0].tolist()
        assert len(list(tmp_path.iterdir())) == 1
        data = (tmp_path / "index").read_bytes()
        for cut in 0, 5, 100, len(data) // 2, len(data) - 1:
            with pytest.raises(RuntimeError, match="index"):
                ours.deserialize_index_binary(np.frombuffer(data[:cut], np.uint8))
    for place in range(0, len(data), 61):
        damaged = bytearray(data)
        damaged[place] ^= 64
        try:
            ours.deserialize_index_binary(np.frombuffer(bytes(damaged), np.uint8)).search(rows, 5)
        except RuntimeError:
            pass


def test_flat_rows():
    rows, flat = codes(50, 64), ours.IndexBinaryFlat(64)
    flat.add(rows[:20])
    flat.add(rows[20:])
    assert (flat.reconstruct_n(15, 10) == rows[15:25]).all() and np.array_equal(flat.reconstruct(7), rows[7])
    assert flat.assign(rows, 1).tolist() == list(range(50)) and flat.assign(rows, 3).shape == (50, 3)
    for call in (lambda: flat.reconstruct_n(45, 6), lambda: flat.reconstruct(50),
                 lambda: ours.index_binary_factory(64, "BHNSW")):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        flat.add(rows[:, :4])
    with pytest.raises(ValueError):
        ours.IndexBinaryFlat(12)
    flat.reset()
    assert flat.ntotal == 0 and type(ours.index_binary_factory(64, "BHash9")) is ours.IndexBinaryHash
