"""Indexes: building, changing, saving, searching, from one thread and several."""
import pickle
import threading

import numpy as np
import pyarrow as pa
import pytest

import cognate


def test_changes(texts, tmp_path):
    index = cognate.Index.build(texts[:600])
    index.add(texts[600:])
    assert len(index) == 900 and index.report["added"] == 300
    assert index.search(texts[700], k=1)["similarity"][0] > 0.999 and 700 in index.search(texts[700], k=5)["row"]
    assert index.remove([700, 5000]) == 1 and len(index) == 899
    assert 700 not in index.search(texts[700], k=20)["row"]
    index.save(tmp_path / "index")
    opened = cognate.Index.open(tmp_path / "index")
    for k in 1, 10:
        assert list(opened.search(texts[:50], k=k).rows()) == list(index.search(texts[:50], k=k).rows())
    opened.compact()
    assert opened.info["segments"] == 1 and opened.info["removed_rows"] == 0
    opened.add([" ".join(texts[0].split()[:9] + texts[1].split()[:9])])
    again = cognate.Index.open(tmp_path / "index")
    assert again.search(" ".join(texts[0].split()[:9] + texts[1].split()[:9]), k=1)["row"].tolist() == [900]
    with pytest.raises((OSError, ValueError), match="index"):
        index.save(tmp_path / "index")


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_sets(texts, tmp_path, measure):
    index = cognate.Index.build(texts[:600], measure=measure)
    index.add(texts[600:700])
    assert index.info["measure"] == measure and index.info["bits"] == 0
    changed = [" ".join(text.split()[:-3]) for text in texts[:900]]
    threshold = 0.6
    found = index.search(changed, threshold=threshold)
    pairs = cognate.pairs(changed, texts[:700], measure=measure, threshold=threshold)
    assert len(pairs) > 500
    assert sorted(zip(found["query"].tolist(), found["row"].tolist())) == list(zip(pairs["a"].tolist(), pairs["b"].tolist()))
    assert len(index.search(changed[0], threshold=threshold, first=True)) == 1
    index.save(tmp_path / "index")
    for reference in index, cognate.Index.open(tmp_path / "index"):
        mine = cognate.dedup(changed, against=reference, measure=measure, threshold=threshold)
        theirs = cognate.dedup(changed, against=texts[:700], measure=measure, threshold=threshold)
        assert mine.kept.tolist() == theirs.kept.tolist() and 0 < len(mine.kept) < 900
        assert list(mine.pairs.rows()) == list(theirs.pairs.rows())
    with pytest.raises(ValueError, match="measure"):
        cognate.dedup(changed, against=index, measure="jaccard" if measure == "containment" else "containment")
    with pytest.raises(TypeError, match="cosine"):
        cognate.Index.build(texts[:5], measure=measure, bits=64)


def test_minhash(texts, tmp_path):
    index = cognate.Index.build(texts[:600], measure="jaccard", vectors=False, bits=512, seed=3)
    index.add(texts[600:700])
    index.save(tmp_path / "index")
    changed = [" ".join(text.split()[:-3]) for text in texts[:900]]
    rows, queries = (cognate.sign(some, "minhash", 512, value_bits=1, seed=3) for some in (texts[:700], changed))
    signed = cognate.Index.build(rows)
    for own in index, cognate.Index.open(tmp_path / "index"):
        assert own.info["measure"] == "jaccard" and own.info["holds"] == "documents without vectors"
        found, expected = own.search(changed, k=5), signed.search(queries, k=5)
        assert found["row"].tolist() == expected["row"].tolist()
        assert found["distance"].tolist() == expected["distance"].tolist()
        estimates = [max(0, 1 - 2 * distance / 512) for distance in found["distance"].tolist()]
        assert found["similarity"].tolist() == pytest.approx(estimates)
    with pytest.raises(ValueError, match="contains only signatures"):
        cognate.dedup(changed, against=index)
    with pytest.raises(ValueError, match="minhash"):
        cognate.Index.build(texts[:5], measure="jaccard", vectors=False, signature="rp")
    with pytest.raises(ValueError, match="containment"):
        cognate.Index.build(texts[:5], measure="containment", vectors=False)


@pytest.mark.parametrize("measure", ["cosine", "jaccard", "containment"])
def test_pairs_against_an_index(texts, tmp_path, measure):
    index = cognate.Index.build(texts[:300], measure=measure)
    index.add(texts[300:400])
    changed = [" ".join(text.split()[:-3]) for text in texts[200:500]]
    expected = list(cognate.pairs(changed, texts[:400], measure=measure, threshold=0.6).rows())
    assert len(expected) > 100
    assert list(cognate.pairs(changed, index, measure=measure, threshold=0.6).rows()) == expected
    index.save(tmp_path / "index")
    opened = cognate.Index.open(tmp_path / "index")
    assert list(cognate.pairs(changed, against=opened, measure=measure, threshold=0.6).rows()) == expected
    with pytest.raises(ValueError, match="measure"):
        cognate.pairs(changed, index, measure="cosine" if measure == "jaccard" else "jaccard")


def test_ids(texts):
    index = cognate.Index.build(texts[:50], ids=[f"n{i}" for i in range(50)])
    mixed = " ".join(texts[0].split()[:20] + texts[1].split()[:20])
    index.add(pa.table({"text": [mixed], "id": ["mixed"]}))
    hits = index.search([texts[3], mixed], k=1)
    assert hits["id"].tolist() == ["n3", "mixed"] and [row[2] for row in hits.rows()] == [None, None]
    index.add([mixed], ids=["n3"])
    assert index.report["added"] == 0 and len(index) == 51
    assert index.remove(["n3"]) == 1


def test_signatures():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 256, (500, 8), np.uint8)
    near = rows ^ np.eye(8, dtype=np.uint8)[rng.integers(0, 8, 500)]
    for method in "flat", "auto", "bphs":
        index = cognate.Index.build(rows, method=method, **({"radius": 3} if method == "bphs" else {}))
        hits = index.search(near, radius=3)
        assert hits["row"].tolist() == list(range(500)) and set(hits["distance"].tolist()) == {1}
    index = cognate.Index.build(rows)
    index.add(near.copy())
    assert index.search(near[:3], k=1)["row"].tolist() == [500, 501, 502]
    margins = np.where(np.unpackbits(near, axis=1), 1, -1).astype(np.float32)
    assert index.search(near[:3], k=1, margins=margins[:3])["row"].tolist() == [500, 501, 502]


def test_signatures_are_kept_alive_and_not_copied():
    rows = np.random.default_rng(2).integers(0, 256, (1000, 16), np.uint8)
    query, index = rows[7:8].copy(), cognate.Index.build(rows, method="flat")
    del rows
    assert index.search(query, k=1)["row"].tolist() == [7]


@pytest.mark.parametrize("in_folder", [False, True])
def test_ten_threads_search_while_one_changes(texts, tmp_path, in_folder):
    index = cognate.Index.build(texts[:300], threads=1)
    if in_folder:
        index.save(tmp_path / "index")
        index = cognate.Index.open(tmp_path / "index")
    expected = index.search(texts[:20], k=1)["similarity"].tolist()
    failures = []

    def search():
        try:
            before = 0
            for turn in range(15):
                found = index.search(texts[:20], k=1, threads=1)["similarity"]
                assert np.allclose(found, expected, atol=1e-6)  # additions change the weights of words
                assert index.search(texts[turn], k=1)["row"].tolist() == [turn]
                now = len(index)
                assert before <= now and now % 30 == 0, "half a batch"
                before = now
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(10)]
    for thread in threads:
        thread.start()
    for first in range(300, 420, 30):
        index.add(texts[first:first + 30], threads=1)
    for thread in threads:
        thread.join()
    assert not failures and len(index) == 420


def rows_of(table):
    return list(table.rows())


def test_single_queries_are_answered_as_many(texts):
    index = cognate.Index.build(texts, method="slices")
    for options in ({}, {"k": 3}, {"threshold": 0.4}, {"k": 5, "method": "slices", "recall": 0.9},
                    {"k": 5, "method": "flat"}):
        many = [row[1:] for row in index.search(texts[:40], recall_sample=0, **options).rows()]
        single = [row[1:] for text in texts[:40] for row in index.search(text, **options).rows()]
        assert single == many
    nothing = index.search("\ud800")
    assert nothing.skipped == [0] and len(nothing["row"]) == 0
    assert index.search(texts[0], k=1, ids=True).columns[-1] == "query_id"
    with pytest.raises(ValueError, match="nothing to look for"):
        index.search("x", k=0)


def test_single_signatures(texts):
    signatures = cognate.sign(texts, "simhash", 64)
    index = cognate.Index.build(signatures, method="bphs", radius=3)
    many = [row[1:] for row in index.search(signatures[:50], radius=3).rows()]
    assert [row[1:] for i in range(50) for row in index.search(signatures[i:i + 1], radius=3).rows()] == many
    strided = np.repeat(signatures, 2, axis=1)[:1, ::2]
    assert rows_of(index.search(strided, radius=3)) == rows_of(index.search(signatures[:1], radius=3))
    with pytest.raises(ValueError, match="bits"):
        index.search(signatures[:1, :4], radius=3)


def test_searchers_notice_changes_and_serve_threads(texts):
    index = cognate.Index.build(texts[:500], method="flat")
    assert index.search(texts[600], k=1)["row"].tolist() != [600]
    index.add(texts[500:], ids=range(500, len(texts)))
    failures = []

    def ask(first):
        for i in range(first, len(texts), 8):
            if index.search(texts[i], k=1, ids=False)["similarity"][0] < 0.999:
                failures.append(i)

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    index.add(["another text that has nothing to do with the others"])
    for thread in threads:
        thread.join()
    assert not failures


def test_recall_of_the_build(texts):
    """What build is told holds for searches that say nothing, of one query and of many."""
    index = cognate.Index.build(texts, method="slices", recall=1)
    with pytest.raises(ValueError, match="a recall of 1 is certain"):
        index.search(texts[:3], k=2, method="slices")
    assert index.search(texts[:3], k=1, method="slices", recall=0.5)["row"].tolist() == [0, 1, 2]
    assert index.search(texts[3], k=1)["row"].tolist() == [3]
    sets = cognate.Index.build(texts, measure="jaccard", recall=0.9)
    assert sets.search(texts[3], k=1)["row"].tolist() == [3]
    with pytest.raises(ValueError, match="a recall of 2"):
        cognate.Index.build(texts, recall=2)


def test_the_end_of_a_block_closes(texts, tmp_path):
    cognate.Index.build(texts[:20]).save(tmp_path / "index")
    with cognate.Index.open(tmp_path / "index") as index:
        assert index.search(texts[3], k=1)["row"].tolist() == [3]
        with pytest.raises(TypeError, match="save it"):
            pickle.dumps(index)
    for call in (lambda: index.search(texts[3]), lambda: len(index), lambda: index.add(["x"]),
                 lambda: cognate.dedup(["x"], against=index)):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert repr(index) == "<cognate.Index: closed>"


def test_one_id_is_one_id():
    """A str is not taken apart into ids of one letter."""
    index = cognate.Index.build(["one", "two", "three"], ids=["1", "0", "10"])
    assert index.remove("10") == 1 and len(index) == 2 and index.remove(0) == 1 and index.remove(np.array([1])) == 1


def test_a_signature_alone_is_a_query():
    signatures = np.random.default_rng(3).integers(0, 256, (50, 8), np.uint8)
    index = cognate.Index.build(signatures)
    assert list(index.search(signatures[7], radius=0)) == list(index.search(signatures[7:8], radius=0)) != []


def test_skipped_documents_are_listed():
    index = cognate.Index.build(["one", None, "two", "three"], ids=["a", "b", "c", "a"])
    assert index.skipped == [1, 3] and len(index) == 2
    index.add(["four", None, "five"], ids=["a", "e", "f"])
    assert index.skipped == [0, 1]
    assert len(index) == 3
