"""Rows are positions in the input in every job, also where documents were skipped, and the skipped ones are listed: each
job over a collection with holes is compared with the same job over the good documents alone."""
import json

import numpy as np
import pyarrow as pa
import pytest

import cognate
from cognate import batch
from conftest import NOUNS, make_texts

TEXTS = make_texts(120)
HOLES = {0: None, 1: b"not \xff text", 7: None, 60: b"\xc3", 61: None, 62: None, 131: None}


def holed(texts):
    """The texts with holes between them, the positions of the texts, and those of the holes."""
    items, rest = [], iter(texts)
    while True:
        if len(items) in HOLES:
            items.append(HOLES[len(items)])
        elif (text := next(rest, None)) is None:
            break
        else:
            items.append(text)
    holes = [place for place in HOLES if place < len(items)]
    return items, np.setdiff1d(np.arange(len(items)), holes), holes


def arrow_of(items):
    """As a table of several chunks, with slices and columns of ids."""
    binary = [item.encode() if isinstance(item, str) else item for item in items]
    table = pa.table({"text": pa.array([b"in front", *binary], pa.binary()), "other": range(len(items) + 1)})[1:]
    return pa.concat_tables([table[:5], table[5:5], table[5:64], table[64:]])


WAYS = [lambda items: items, arrow_of, lambda items: arrow_of(items)["text"].combine_chunks(),
        lambda items: arrow_of(items)["text"].dictionary_encode()]


@pytest.fixture(params=WAYS, ids=["list", "table", "array", "dictionary"])
def way(request):
    return request.param


def moved(table, *columns):
    """Rows, with the columns of positions among the good documents as positions in the input."""
    names, maps = table.columns, dict(columns)
    return [tuple(int(maps[name][value]) if name in maps else value for name, value in zip(names, row))
            for row in table]


@pytest.mark.parametrize("options", [{}, {"measure": "cosine"}, {"method": "lsh"}, {"keep": "last"},
                                     {"grouping": "connected", "threshold": 0.5}, {"measure": "containment"}])
def test_dedup(way, options):
    items, places, holes = holed(TEXTS)
    found, alone = cognate.dedup(way(items), **options), cognate.dedup(TEXTS, **options)
    assert found.skipped == holes and len(alone.pairs) > 5
    assert found.kept.tolist() == places[alone.kept].tolist()
    assert list(found.clusters) == moved(alone.clusters, ("row", places), ("representative", places))
    assert list(found.pairs) == moved(alone.pairs, ("removed", places), ("kept", places))


@pytest.mark.parametrize("options", [{}, {"measure": "jaccard", "method": "lsh"}, {"measure": "cosine"}])
def test_dedup_against(way, options):
    items, places, holes = holed(TEXTS[60:])
    others, other_places, other_holes = holed(TEXTS[:60])
    found = cognate.dedup(way(items), against=way(others), **options)
    alone = cognate.dedup(TEXTS[60:], against=TEXTS[:60], **options)
    assert (found.skipped, found.skipped_against) == (holes, other_holes)
    assert found.kept.tolist() == places[alone.kept].tolist() and len(alone.pairs) > 5
    twins = [(places[removed], other_places[kept], similarity) for removed, kept, similarity in alone.pairs]
    assert list(found.pairs) == twins


@pytest.mark.parametrize("options", [
    {}, {"measure": "jaccard"}, {"measure": "containment"}, {"method": "flat"}, {"method": "lists"},
    {"measure": "jaccard", "method": "lsh"}, {"method": "window", "knobs": {"tables": 16}}])
def test_pairs(way, options):
    items, places, holes = holed(TEXTS)
    found, alone = cognate.pairs(way(items), **options), cognate.pairs(TEXTS, **options)
    assert found.skipped == holes and found.skipped_against == [] and len(alone) > 5
    assert list(found) == moved(alone, ("a", places), ("b", places))
    others, other_places, other_holes = holed(TEXTS[40:])
    found, alone = cognate.pairs(way(items), way(others), **options), cognate.pairs(TEXTS, TEXTS[40:], **options)
    assert (found.skipped, found.skipped_against) == (holes, other_holes) and len(alone) > 5
    assert list(found) == moved(alone, ("a", places), ("b", other_places))


@pytest.mark.parametrize("measure", ["cosine", "jaccard"])
def test_index(way, measure):
    items, places, holes = holed(TEXTS)
    index, alone = cognate.Index.build(way(items), measure=measure), cognate.Index.build(TEXTS, measure=measure)
    assert index.skipped == holes and len(index) == len(TEXTS)
    found, expected = index.search(way(items), threshold=0.6), alone.search(TEXTS, threshold=0.6)
    assert found.skipped == holes and len(expected) > len(TEXTS)
    cut = [row[:5] for row in moved(expected, ("query", places), ("row", places))]
    assert [row[:5] for row in found] == cut
    assert [str(row) for row in found["row"]] == found["id"].tolist()
    assert list(cognate.pairs(way(items), index, measure=measure)) == moved(
        cognate.pairs(TEXTS, alone, measure=measure), ("a", places), ("b", np.arange(len(TEXTS))))
    index.add(way(items))
    assert index.skipped == holes
    again = index.search(TEXTS[9], threshold=0.999)["row"].tolist()
    assert {int(places[9]), int(places[9]) + len(items)} <= set(again)


def test_link(way, lexicon):
    german = [" ".join(list(NOUNS)[(i * k) % 12] for k in range(1, 9)) for i in range(1, 40)]
    english = [" ".join(NOUNS[word] for word in text.split()) for text in german]
    items, places, holes = holed(german)
    others, other_places, other_holes = holed(english[::-1])
    found = cognate.link(way(items), way(others), lexicon=lexicon, threshold=0.3)
    alone = cognate.link(german, english[::-1], lexicon=lexicon, threshold=0.3)
    assert (found.skipped, found.skipped_against) == (holes, other_holes) and len(alone) > 10
    assert list(found) == moved(alone, ("from", places), ("to", other_places))
    across = cognate.pairs(way(items), way(others), lexicon=lexicon, threshold=0.3)
    assert across.skipped_against == other_holes and list(across) == moved(
        cognate.pairs(german, english[::-1], lexicon=lexicon, threshold=0.3), ("a", places), ("b", other_places))


@pytest.mark.parametrize("kind", ["rp", "simhash", "topsig", "minhash"])
def test_sign(way, kind):
    items, places, holes = holed(TEXTS)
    counts, expected = np.full(len(items), 7, np.uint32), np.zeros(len(TEXTS), np.uint32)
    signatures = cognate.sign(way(items), kind, term_counts=counts)
    alone = cognate.sign(TEXTS, kind, term_counts=expected)
    assert np.array_equal(signatures[places], alone) and not signatures[holes].any()
    assert np.array_equal(counts[places], expected) and not counts[holes].any()


def test_steps_of_jobs(way):
    items, places, _ = holed(TEXTS)
    pairs = cognate.pairs(TEXTS, measure="jaccard")
    similarities = batch.verify(way(items), places[pairs["a"]], places[pairs["b"]])
    assert len(pairs) > 5 and np.array_equal(np.float32(similarities), np.float32(pairs["similarity"]))


def test_files(tmp_path):
    """Records of files: a line that is no record, and one without a text, count."""
    lines = [json.dumps({"text": text}) for text in TEXTS]
    lines[3:3] = ["no json", json.dumps({"body": "other field"})]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n")
    places = np.setdiff1d(np.arange(len(lines)), [3, 4])
    found, alone = cognate.dedup(tmp_path / "texts.jsonl"), cognate.dedup(TEXTS)
    assert found.skipped == [3, 4] and found.kept.tolist() == places[alone.kept].tolist()
    table = cognate.pairs(tmp_path / "texts.jsonl", measure="jaccard")
    assert table.skipped == [3, 4] and list(table) == moved(cognate.pairs(TEXTS, measure="jaccard"), ("a", places), ("b", places))
