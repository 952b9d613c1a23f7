"""The steps of jobs one by one: put together, they are the jobs."""
import pickle

import numpy as np
import pyarrow as pa
import pytest

import cognate
from cognate import batch, link_batch

NONE, SIGNATURE = np.zeros(0, np.int64), np.zeros((1, 8), np.uint8)


def pairs_by_keys(keys):
    """Rows that share a key in a table."""
    buckets = {}
    for row, table, key in keys.rows():
        buckets.setdefault((table, key), []).append(row)
    return {(a, b) for rows in buckets.values() for i, b in enumerate(rows) for a in rows[:i]}


def test_statistics_merge_and_travel(texts):
    whole = batch.Statistics.collect(texts, language="en")
    parts = [batch.Statistics.collect(texts[i::3], language="en") for i in range(3)]
    total = pickle.loads(pickle.dumps(parts[2])) + parts[0] + parts[1]
    assert total.to_bytes() == whole.to_bytes() and total.documents == 900
    signatures = cognate.sign(texts, "rp", 256, language="en")
    split = [cognate.sign(texts[i:i + 300], "rp", 256, language="en", statistics=total) for i in (0, 300, 600)]
    assert (np.concatenate(split) == signatures).all()
    with pytest.raises(ValueError, match="do not merge"):
        total.merge(batch.Statistics.collect(texts[:3], ngram=2))
    with pytest.raises(ValueError, match="damaged|truncated"):
        batch.Statistics.from_bytes(whole.to_bytes()[:-1])


def test_dedup_in_steps(texts):
    texts = [*texts[:500], None, *texts[500:]]
    expected = cognate.dedup(texts, threshold=0.5)
    values = 128
    counts = np.zeros(len(texts), np.uint32)
    signatures = cognate.sign(texts, "minhash", values * 32, value_bits=32, term_counts=counts)
    assert counts[500] == 0 and counts[:500].all()
    tables, size, recall = batch.bands(0.5, values, recall=0.999)
    keys = batch.table_keys(signatures, tables=tables, band_values=size, value_bits=32, term_counts=counts)
    assert len(keys) == 900 * tables and recall > 0.99
    a, b = np.array(sorted(pairs_by_keys(keys))).T
    similarities = batch.verify(texts, a, b)
    near = similarities >= 0.5
    found = batch.clusters(len(texts), a[near], b[near], similarities[near],
                           keys=[len((text or "").encode()) for text in texts])
    assert list(found.rows()) == [
        (cluster, row, representative, pytest.approx(similarity), kept)
        for cluster, row, representative, similarity, kept in expected.clusters.rows()]


def test_term_sets_speak_arrow(texts):
    texts = [texts[0], None, texts[1], "short text of words"]
    sets = batch.term_sets(texts)
    assert sets.skipped == [1] and sets["row"].tolist() == [0, 2, 3]
    table = pa.table(sets)
    table.validate(full=True)
    assert table.schema.field("terms").type == pa.list_(pa.field("item", pa.int64(), nullable=False)) or \
        table.schema.field("terms").type == pa.list_(pa.int64())
    assert table["terms"].to_pylist() == [list(members) for members in sets["terms"]]
    assert [len(words) for words in sets["words"]] == [0, 0, 4] and len(sets["terms"][2]) == 0
    first, third = (set(sets["terms"][i].tolist()) for i in (0, 1))
    assert batch.verify(texts, [0], [2]).tolist() == [len(first & third) / len(first | third)]
    assert pa.table(sets).equals(table)  # exported again


def test_verify_by_every_measure(texts):
    found = cognate.pairs(texts, threshold=0.5, language="en")
    statistics = batch.Statistics.collect(texts, language="en")
    cosines = batch.verify(texts, found["a"], found["b"], measure="cosine", statistics=statistics, language="en")
    assert np.allclose(cosines, found["similarity"], atol=1e-6)
    found = cognate.pairs(texts, threshold=0.5, measure="jaccard")
    assert np.allclose(batch.verify(texts, found["a"], found["b"]), found["similarity"], atol=1e-6)
    words = texts[0].split()
    assert batch.verify([texts[0]], [0], [0], [" ".join(words[:20])], measure="containment").tolist() == [1]
    signatures = cognate.sign(texts, "simhash", 64)
    near = cognate.pairs(signatures, radius=5)
    assert (batch.verify(signatures, near["a"], near["b"]) == near["distance"]).all()
    with pytest.raises(ValueError, match="row 900"):
        batch.verify(signatures, [0], [900])
    with pytest.raises(ValueError, match="same length"):
        batch.verify(texts, [0], [1, 2])


def test_keys_with_flips(texts):
    signatures, margins = cognate.sign(texts, "rp", 128, margins=True, language="en")
    own = batch.table_keys(signatures, tables=3, key_bits=16)
    flipped = batch.table_keys(signatures, tables=3, key_bits=16, flips=2, margins=margins)
    assert len(own) == 2700 and len(flipped) == 8100
    assert set(own.rows()) < set(flipped.rows())
    assert sorted(batch.table_keys(signatures, tables=3, key_bits=16, flips=2, margins=margins,
                                   flipped=False).rows()) == sorted(own.rows())
    with pytest.raises(ValueError):
        batch.table_keys(signatures, tables=3, key_bits=16, flips=2, flip_mode="distance")
    with pytest.raises(ValueError, match="bytes instead of"):
        batch.table_keys(signatures, tables=3, key_bits=16, flips=2, margins=margins[:5])


def test_clusters_refuse_what_is_not_there():
    with pytest.raises(ValueError, match="there are 2 rows"):
        batch.clusters(2, [0], [2])
    with pytest.raises(ValueError, match="grouping"):
        batch.clusters(2, [0], [1], grouping="other")
    assert len(batch.clusters(3, [], [])) == 0
    chain = ([0, 1, 2], [1, 2, 3])
    assert batch.clusters(4, *chain, grouping="connected")["representative"].tolist() == [0, 0, 0, 0]
    assert batch.clusters(4, *chain)["representative"].tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("call, kind, message", [
    (lambda: batch.MemberCounts(12).add((NONE, NONE)), ValueError, "give one more than there are lists"),
    (lambda: batch.measure_sets(*[(NONE, NONE)] * 4), ValueError, "give one more than there are lists"),
    (lambda: batch.measure_sets(*[(np.zeros(1), NONE)] * 4, measure="cosine"), ValueError, "jaccard, containment"),
    (lambda: link_batch.cosines((NONE, NONE), (NONE, NONE), [], []), ValueError, "give one more than there are lists"),
    (lambda: batch.MemberCounts(0), ValueError, "slot_bits of 0"),
    (lambda: batch.plan_join(-1, method="window"), ValueError, "rows of -1: it must be 0 or more"),
    (lambda: batch.plan_join(5, 1 << 60, method="window"), ValueError, "fewer than 2^48"),
    (lambda: batch.bands(0.5, -128), ValueError, "values of -128"),
    (lambda: batch.permute(SIGNATURE, tables=-1), ValueError, "tables of -1"),
    (lambda: batch.band_pairs(SIGNATURE, [0], [1], -1), ValueError, "radius of -1"),
    (lambda: batch.band_pairs(SIGNATURE, [0], [1], 1 << 32), ValueError, "radius of 4294967296 is too large"),
])
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message.replace("^", r"\^")):
        call()


def test_lexicons_travel():
    pairs = [("das Haus", "the house"), ("das Buch", "the book"), ("ein Haus", "a house"), ("ein Buch", "a book")]
    lexicon = cognate.Lexicon.train(pairs * 5, "de", "en")
    copy = pickle.loads(pickle.dumps(lexicon))
    assert copy.translate("Buch") == lexicon.translate("Buch") and copy.to_bytes() == lexicon.to_bytes()
    with pytest.raises(ValueError, match="damaged|Cognate file|truncated"):
        cognate.Lexicon.from_bytes(lexicon.to_bytes()[:100])


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_set_join_in_steps(texts, measure):
    """Keys, candidates and measures, put together, are the pairs of one call."""
    table = batch.term_sets(texts, measure=measure).to_numpy()
    sets = np.cumsum([0, *map(len, table["terms"])]), np.concatenate(table["terms"])
    halves = [batch.MemberCounts(18, 10) for _ in range(2)]
    middle = len(texts) // 2
    halves[0].add((sets[0][:middle + 1], sets[1]))
    halves[1].add((sets[0][middle:], sets[1]))
    halves[0].merge(halves[1])
    keys = batch.set_keys(sets, halves[0], threshold=0.6, measure=measure).to_numpy()
    order = np.lexsort((keys["size"], keys["key"]))
    rows = {name: column[order] for name, column in keys.items()}
    a, b, comparisons = batch.key_pairs(rows["key"], rows["first"], rows["second"], rows["place"], rows["size"],
                                        np.zeros(len(order)), threshold=0.6, measure=measure)
    found = np.unique(np.sort(np.stack([rows["row"][a], rows["row"][b]], 1), 1), axis=0)
    assert comparisons >= len(a) >= len(found)

    def of(numbers):
        chosen = [table["terms"][row] for row in numbers]
        return np.cumsum([0, *map(len, chosen)]), np.concatenate(chosen)
    none = np.zeros(len(found) + 1), np.empty(0)
    similarities = batch.measure_sets(of(found[:, 0]), of(found[:, 1]), none, none, measure=measure)
    expected = cognate.pairs(texts, threshold=0.6, measure=measure)
    near = similarities >= 0.6
    assert found[near].tolist() == np.stack([expected["a"], expected["b"]], 1).tolist()
    assert np.allclose(similarities[near], expected["similarity"])


def test_shared_boilerplate_costs_little():
    """A passage that a third of the documents share is frequent, so it is among the keys of hardly any of them."""
    rng = np.random.default_rng(3)

    def passage(words):
        return " ".join(f"w{number}" for number in rng.integers(0, 5000, words))
    own, shared = [passage(100) for _ in range(1500)], passage(60)

    def comparisons(texts):
        table = batch.term_sets(texts).to_numpy()
        sets = np.cumsum([0, *map(len, table["terms"])]), np.concatenate(table["terms"])
        counts = batch.MemberCounts(20)
        counts.add(sets)
        keys = batch.set_keys(sets, counts, threshold=0.8).to_numpy()
        order = np.lexsort((keys["size"], keys["key"]))
        columns = [keys[name][order] for name in ("key", "first", "second", "place", "size")]
        return batch.key_pairs(*columns, np.zeros(len(order)), threshold=0.8)[2]
    with_it = [text + " " + shared if i % 3 == 0 else text for i, text in enumerate(own)]
    assert comparisons(with_it) <= 2 * comparisons(own) + len(own)
    assert comparisons(own + [own[0]]) > comparisons(own)
