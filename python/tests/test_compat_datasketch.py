"""cognate.compat.datasketch: the documented examples of datasketch, and its hash values next to ours if it is installed."""
import inspect
import pickle
import random

import numpy as np
import pytest

from cognate.compat.datasketch import MinHash, MinHashLSH, sha1_hash32, sha1_hash64

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
    first.add_to_query_buffer(sketches[0])
    first.add_to_query_buffer(sketches[1])
    assert set(first.collect_query_buffer()) == set(first.query(sketches[0])) & set(first.query(sketches[1]))
    assert first.collect_query_buffer() == []
    with pytest.raises(ValueError):
        first.merge(second, check_overlap=True)
