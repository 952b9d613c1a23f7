"""Texts that were seen before: the same answers as pairs, from several threads, and from a folder."""
import pickle
import threading

import pytest

import cognate


def test_seen_answers_as_pairs(texts):
    found = cognate.pairs(texts, measure="jaccard", threshold=0.6)
    best = {}
    for a, b, similarity, *_ in found.rows():
        best[max(a, b)] = max(best.get(max(a, b), 0), similarity)
    assert best
    seen = cognate.Seen(threshold=0.6)
    for row, text in enumerate(texts):
        match = seen.match(text)
        assert (match[1] if match else 0) == pytest.approx(best.get(row, 0), abs=1e-6)
        assert match is None or match[0] < row
    assert len(seen) == len(texts)


def test_seen_goes_on_in_a_folder(texts, tmp_path):
    folder = tmp_path / "seen"
    seen = cognate.Seen(folder=folder)
    first = [seen(text) for text in texts[:50]]
    seen.sync()
    with pytest.raises(Exception, match="another process|changing"):
        cognate.Seen(folder=folder)
    del seen
    again = cognate.Seen(folder=folder)
    assert len(again) == 50
    assert again(texts[3]) == (3 if first[3] is None else first[3])
    with pytest.raises(Exception, match="n-grams"):
        del again
        cognate.Seen(folder=folder, ngram=2)


def test_threads_share_what_was_seen(texts):
    seen = cognate.Seen()
    new = []

    def look():
        new.extend(text for text in texts[:100] if seen(text) is None)

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = cognate.Seen()
    assert len(seen) == 600 and len(new) <= len([text for text in texts[:100] if alone(text) is None]) + 20
    assert len(new) == len(set(new))  # each text is new to one thread


def test_a_threshold_that_is_none_is_refused():
    with pytest.raises(ValueError, match="threshold"):
        cognate.Seen(threshold=0)


def test_the_end_of_a_block_closes(texts, tmp_path):
    with cognate.Seen(threshold=0.5, folder=tmp_path / "seen") as seen:
        assert seen(texts[0]) is None and repr(seen) == "<cognate.Seen: 1 texts, threshold 0.5>"
    for call in (lambda: seen(texts[0]), lambda: len(seen), seen.sync):
        with pytest.raises(ValueError, match="closed"):
            call()
    seen.close()
    assert repr(seen) == "<cognate.Seen: closed>"
    with cognate.Seen(threshold=0.5, folder=tmp_path / "seen") as again, pytest.raises(TypeError, match="folder"):
        assert again(texts[0]) == 0
        pickle.dumps(again)
