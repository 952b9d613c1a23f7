"""cognate.compat.datasketch: the documented examples of datasketch, and its hash values next to ours if it is installed."""
import inspect
import pickle
import random
import struct

import numpy as np
import pytest

from cognate.compat.datasketch import (LeanMinHash, MinHash, MinHashLSH, MinHashLSHForest, WeightedMinHashGenerator,
                                       bBitMinHash, sha1_hash32, sha1_hash64)

DATA = [["minhash", "is", "a", "probabilistic", "data", "structure", "for", "estimating", "the", "similarity", "between",
         "datasets"],
        ["minhash", "is", "a", "probability", "data", "structure", "for", "estimating", "the", "similarity", "between",
         "documents"],
        ["minhash", "is", "probability", "data", "structure", "for", "estimating", "the", "similarity", "between",
         "documents"]]


def sketch(words, kind=MinHash, **options):
    result = kind(**options)
    for word in words:
        result.update(word.encode())
    return result


def test_documented_examples():
    first, second, third = (sketch(words) for words in DATA)
    true = len(set(DATA[0]) & set(DATA[1])) / len(set(DATA[0]) | set(DATA[1]))
    assert abs(first.jaccard(second) - true) < 0.15
    lsh = MinHashLSH(threshold=0.5, num_perm=128)
    lsh.insert("m2", second)
    lsh.insert("m3", third)
    assert set(lsh.query(first)) == {"m2", "m3"} and "m2" in lsh
    lsh.remove("m2")
    assert lsh.query(first) == ["m3"] and "m2" not in lsh
    with pytest.raises(ValueError):
        lsh.insert("m3", third)
    with pytest.raises(ValueError):
        lsh.remove("m2")
    again = pickle.loads(pickle.dumps(lsh))
    assert again.query(first) == ["m3"] and not again.is_empty()


def test_sets():
    words = [str(i).encode() for i in range(5000)]
    whole, batch, half, other = MinHash(256), MinHash(256), MinHash(256), MinHash(256)
    for word in words:
        whole.update(word)
    batch.update_batch(words)
    assert whole == batch and whole.copy() == whole and abs(whole.count() / 5000 - 1) < 0.25
    half.update_batch(words[:2500])
    other.update_batch(words[2500:])
    assert MinHash.union(half, other) == whole and abs(half.jaccard(whole) - 0.5) < 0.12
    assert MinHash().is_empty() and not half.is_empty()
    assert pickle.loads(pickle.dumps(half)) == half
    with pytest.raises(ValueError):
        half.jaccard(MinHash(128))
    with pytest.raises(ValueError):
        half.jaccard(MinHash(256, seed=2))


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_values_are_those_of_datasketch(scheme):
    """Element by element, as a batch and in bulk; with elements around the ends of SHA-1's blocks, and other numbers."""
    datasketch = pytest.importorskip("datasketch")
    if "scheme" not in inspect.signature(datasketch.MinHash.__init__).parameters:
        pytest.skip("datasketch before 2.0")
    rng = random.Random(2)
    sets = [[rng.randbytes(size) for size in rng.choices(range(200), k=rng.randrange(30))] for _ in range(60)]
    sets += [[b"x" * size for size in range(140)], [], [b""]]
    for num_perm, seed in ((128, 1), (16, 7), (1, 2), (131, 3)):
        options = {"num_perm": num_perm, "seed": seed, "scheme": scheme}
        theirs = [sketch.digest() for sketch in datasketch.MinHash.bulk(sets, **options)]
        single, batch = MinHash(**options), MinHash(**options)
        for element in sets[0]:
            single.update(bytearray(element))
        batch.update_batch(iter(sets[0]))
        ours = [sketch.digest() for sketch in (*MinHash.bulk(map(tuple, sets), **options), single, batch)]
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(ours, [*theirs, theirs[0], theirs[0]]))
        assert single.permutations.tolist() == np.array(datasketch.MinHash(**options).permutations).tolist()
        other = {**options, "hashfunc": lambda number: number * 1_000_003 % (1 << 32)}
        numbers = [MinHash(**other), datasketch.MinHash(**other)]
        for sketch_of_numbers in numbers:
            sketch_of_numbers.update_batch(range(1000))
        assert np.array_equal(numbers[0].hashvalues, numbers[1].hashvalues)
        assert np.array_equal(MinHash.bulk([range(1000)], **other)[0].hashvalues, numbers[1].hashvalues)


def test_usual_hash_functions():
    for size in range(130):
        sketch_of_one = MinHash(3, scheme="affine64")
        sketch_of_one.update(b"y" * size)
        by_python = MinHash(3, scheme="affine64", hashfunc=lambda data: sha1_hash64(data))
        by_python.update(b"y" * size)
        assert sketch_of_one == by_python and sha1_hash64(b"y" * size) & (1 << 32) - 1 == sha1_hash32(b"y" * size)


def test_schemes_do_not_mix():
    affine, legacy = MinHash(), MinHash(scheme="legacy")
    for call in (affine.jaccard, affine.merge):
        with pytest.raises(ValueError):
            call(legacy)
    lsh = MinHashLSH()
    lsh.insert("affine", affine)
    for call in (lambda: lsh.query(legacy), lambda: MinHash(scheme="none"), lambda: MinHash(hashvalues=[1, 2]),
                 lambda: MinHash(0), lambda: MinHash.union(affine), lambda: MinHash(hashfunc=7),
                 lambda: MinHash(hashvalues=[1 << 32], scheme="affine32"),
                 lambda: MinHash(2, permutations=[[1, 2], [0, 0]], scheme="affine32"),
                 lambda: MinHash(hashfunc=lambda element: 1 << 32).update(b"")):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        affine.update("a text")
    with pytest.raises(TypeError):
        MinHash.bulk([[b"a"], ["a text"]])
    old = MinHash(8, scheme="legacy")
    state = {name: value for name, value in vars(old).items() if name != "scheme"}
    earlier = MinHash.__new__(MinHash)
    earlier.__setstate__(state)
    assert earlier == old


def test_a_held_array_does_not_change():
    one = MinHash()
    held = one.hashvalues
    one.update(b"element")
    assert MinHash(hashvalues=held, scheme="affine32").is_empty() and not one.is_empty()


def test_index_extras():
    first, second = MinHashLSH(params=(32, 4)), MinHashLSH(params=(32, 4))
    sketches = MinHash.bulk([[b"a", b"b"], [b"a", b"b", b"c"], [b"x"]])
    with first.insertion_session() as session:
        session.insert("ab", sketches[0])
    second.insert("x", sketches[2])
    first.merge(second)
    assert first.query(sketches[2]) == ["x"] and "ab" in first
    assert all(sum(counts.values()) == 2 for counts in first.get_counts())
    assert all(sum(counts.values()) == 1 for counts in first.get_subset_counts("x", "x"))
    assert first.get_subset_counts() == [{}] * first.b
    with pytest.raises(ValueError):
        first.get_subset_counts("nobody")
    first.add_to_query_buffer(sketches[0])
    first.add_to_query_buffer(sketches[1])
    assert set(first.collect_query_buffer()) == set(first.query(sketches[0])) & set(first.query(sketches[1]))
    assert first.collect_query_buffer() == []
    with pytest.raises(ValueError):
        first.merge(second, check_overlap=True)


def test_storage_is_in_memory():
    assert MinHashLSH(storage_config={"type": "dict"}, prepickle=True, hashfunc=lambda bucket: bucket).is_empty()
    with pytest.raises(ValueError, match="no storage back ends"):
        MinHashLSH(storage_config={"type": "redis"})


@pytest.fixture(name="peer")
def datasketch_of_this_form():
    datasketch = pytest.importorskip("datasketch")
    if "scheme" not in inspect.signature(datasketch.MinHash.__init__).parameters:
        pytest.skip("datasketch before 2.0")
    return datasketch


@pytest.mark.parametrize("scheme", ["affine32", "affine64", "legacy"])
def test_lean_sketches(peer, scheme):
    """Bytes that either side writes are read by the other."""
    ours, theirs = MinHash(33, seed=5, scheme=scheme), peer.MinHash(33, seed=5, scheme=scheme)
    for whole in ours, theirs:
        whole.update_batch([b"one", b"two", b"three"])
    lean, other = LeanMinHash(ours), peer.LeanMinHash(theirs)
    for order in "@=<>!":
        mine, own = bytearray(lean.bytesize(order)), bytearray(other.bytesize(order))
        lean.serialize(mine, order)
        other.serialize(own, order)
        assert mine == own and LeanMinHash.deserialize(own, order) == lean
        for size in 4, len(mine) - 1:
            with pytest.raises((ValueError, struct.error)):
                LeanMinHash.deserialize(mine[:size], order)
    again = pickle.loads(pickle.dumps(lean))
    assert again == lean == ours and {again: 1}[lean] == 1 and lean.jaccard(ours) == 1 and type(lean.copy()) is LeanMinHash
    assert LeanMinHash.union(lean, lean.copy()) == lean and not lean.is_empty()
    lsh = MinHashLSH(num_perm=33)
    lsh.insert("lean", lean)
    assert lsh.query(ours) == ["lean"]
    for call in (lambda: lean.update(b"x"), lambda: lean.update_batch([b"x"])):
        with pytest.raises(TypeError):
            call()
    for call in (LeanMinHash, lambda: LeanMinHash(seed=1, hashvalues=[1]), lambda: lean.serialize(bytearray(3)),
                 lambda: LeanMinHash(ours, scheme="affine32" if scheme == "legacy" else "legacy")):
        with pytest.raises(ValueError):
            call()


def test_sketches_of_b_bits(peer):
    for b in 1, 2, 5, 8, 32:
        sketches = []
        for kind, small in ((MinHash, bBitMinHash), (peer.MinHash, peer.bBitMinHash)):
            first, second = kind(), kind()
            first.update_batch([str(i).encode() for i in range(100)])
            second.update_batch([str(i).encode() for i in range(20, 100)])
            sketches.append((small(first, b), small(second, b)))
        (a, c), (d, e) = sketches
        assert np.array_equal(a.hashvalues, d.hashvalues) and a.jaccard(c) == pytest.approx(d.jaccard(e))
        assert pickle.loads(pickle.dumps(a)) == a != c
    half, third = bBitMinHash(MinHash(), 1, r=0.5), bBitMinHash(MinHash(), 1, r=0.25)  # the equations with 2^b = 2
    chances = 0.5 * 0.5 / (1 - 0.25), 0.25 * 0.75 / (1 - 0.5625)
    by_chance = (chances[0] * 0.25 + chances[1] * 0.5) / 0.75, (chances[0] * 0.5 + chances[1] * 0.25) / 0.75
    assert half.jaccard(third) == pytest.approx((1 - by_chance[0]) / (1 - by_chance[1]))
    with pytest.raises(ValueError):
        bBitMinHash(MinHash(), 33)
    with pytest.raises(ValueError):
        bBitMinHash(MinHash(), 1).jaccard(bBitMinHash(MinHash(), 2))


def test_weighted_sketches(peer):
    rng = np.random.default_rng(6)
    rows = rng.uniform(0, 9, (30, 17)) * (rng.random((30, 17)) < 0.7)
    rows[4] = 0
    ours, theirs = WeightedMinHashGenerator(17, 64, seed=3), peer.WeightedMinHashGenerator(17, 64, seed=3)
    many, expected = ours.minhash_many(rows), theirs.minhash_many(rows)
    assert many[4] is expected[4] is None
    for row, mine, own in zip(rows, many, expected):
        assert mine is None or np.array_equal(mine.hashvalues, own.hashvalues) and mine == ours.minhash(row)
    sparse = pytest.importorskip("scipy.sparse")
    assert ours.minhash_many(sparse.csr_matrix(rows)) == many
    true = np.minimum(rows[0], rows[1]).sum() / np.maximum(rows[0], rows[1]).sum()
    assert abs(many[0].jaccard(many[1]) - true) < 0.2 and many[0].copy() == many[0] and len(many[0]) == 64
    lsh = MinHashLSH(0.5, 64)
    for row, sketch in enumerate(many):
        if sketch is not None:
            lsh.insert(row, sketch)
    assert all(row in lsh.query(sketch) for row, sketch in enumerate(many) if sketch is not None)
    for call in (lambda: ours.minhash([0] * 17), lambda: ours.minhash([1]), lambda: ours.minhash_many(np.ones((2, 3))),
                 lambda: lsh.query(MinHash(64)), lambda: many[0].jaccard(WeightedMinHashGenerator(17, 32).minhash([1] * 17))):
        with pytest.raises(ValueError):
            call()


def test_forest(peer):
    """Finds what the forest of datasketch finds, and the sketch itself first."""
    rng = random.Random(9)
    sets = [[str(rng.randrange(60)).encode() for _ in range(40)] for _ in range(50)]
    forest, other = MinHashLSHForest(128, 8), peer.MinHashLSHForest(128, 8)
    ours, theirs = MinHash.bulk(sets), peer.MinHash.bulk(sets)
    for key, (mine, own) in enumerate(zip(ours, theirs)):
        forest.add(key, mine)
        other.add(key, own)
    assert forest.is_empty() and forest.query(ours[0], 3) == []
    forest.index()
    other.index()
    for key, sketch in enumerate(ours):
        assert forest.query(sketch, 1) == [key]
        assert set(forest.query(sketch, 1000)) == set(other.query(theirs[key], 1000))
        assert np.array_equal(forest.get_minhash_hashvalues(key), sketch.hashvalues)
    assert pickle.loads(pickle.dumps(forest)).query(ours[3], 5) == forest.query(ours[3], 5)
    for call in (lambda: forest.add(0, ours[0]), lambda: forest.query(ours[0], 0), lambda: forest.query(MinHash(64), 1),
                 lambda: MinHashLSHForest(4, 8), lambda: forest.query(MinHash(scheme="legacy"), 1)):
        with pytest.raises(ValueError):
            call()
