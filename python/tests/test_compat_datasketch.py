"""cognate.compat.datasketch: the documented examples of datasketch, and its estimates next to ours if it is installed."""
import inspect
import pickle
import random

import numpy as np
import pytest

from cognate.compat.datasketch import MinHash, MinHashLSH

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


def test_estimates_are_as_good_as_those_of_datasketch():
    datasketch = pytest.importorskip("datasketch")
    rng, errors = random.Random(5), {"ours": [], "theirs": []}
    for _ in range(60):
        shared, only = rng.randrange(1, 200), rng.randrange(1, 200)
        common = [f"c{rng.random()}" for _ in range(shared)]
        sets = [common + [f"{side}{rng.random()}" for _ in range(only)] for side in "ab"]
        true = shared / (shared + 2 * only)
        for name, kind in ("ours", MinHash), ("theirs", datasketch.MinHash):
            errors[name].append(sketch(sets[0], kind).jaccard(sketch(sets[1], kind)) - true)
    ours, theirs = (np.sqrt(np.mean(np.square(errors[name]))) for name in ("ours", "theirs"))
    assert ours < 0.06 and ours < 1.5 * theirs + 0.01


def test_values_are_those_of_datasketch():
    datasketch = pytest.importorskip("datasketch")
    legacy = {"scheme": "legacy"} if "scheme" in inspect.signature(datasketch.MinHash.__init__).parameters else {}
    for num_perm, seed in ((128, 1), (16, 7)):
        ours, theirs = MinHash(num_perm, seed), datasketch.MinHash(num_perm, seed, **legacy)
        for element in (b"one", b"two", b"a longer element"):
            ours.update(element)
            theirs.update(element)
        assert ours.hashvalues.tolist() == theirs.hashvalues.tolist()
        assert ours.permutations.tolist() == np.array(theirs.permutations).tolist()


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
