"""The steps of link one by one: the links of one call, bit for bit, for any parts."""
import json
import random
import subprocess

import numpy as np
import pyarrow as pa
import pytest

import cognate
from cognate import batch, link_batch
from conftest import NOUNS

PROGRAM = cognate.__path__[0] + "/cognate-program"


@pytest.fixture(scope="module", name="sides")
def make_sides():
    """Translations, with compounds and words that no lexicon knows; some have no partner, and some no words."""
    draw = random.Random(4)
    words, names = list(NOUNS), [f"Qu{draw.randrange(10**6)}" for _ in range(150)]
    sides = [], []
    for number in range(300):
        text = [draw.choice(words) for _ in range(draw.randint(4, 20))]
        own = draw.sample(names, 3) if number % 3 else []
        german = [*text, *own, text[0] + text[-1].lower()]
        english = [*(NOUNS[word] for word in text), *own, NOUNS[text[0]], NOUNS[text[-1]]]
        sides[0].append(" ".join(german) if number % 50 else "")
        sides[1].append(" ".join(english) if number % 7 else " ".join(draw.choice(list(NOUNS.values())) for _ in range(9)))
    return sides


def of_parts(texts, lexicon, side, parts):
    """What is known of a side, and its rows of terms, read in parts."""
    known = [link_batch.terms(texts[part::parts], lexicon, side) for part in range(parts)]
    statistics = known[0].statistics
    for part in known[1:]:
        statistics.merge(part.statistics)
    words = sorted({word for part in known for word in part.words["word"]})
    data = "".join(words).encode()
    offsets = np.cumsum([0, *(len(word.encode()) for word in words)])
    languages = tuple(int(total) for total in np.sum([part.languages for part in known], axis=0))
    rows = [None] * len(texts)
    for part, own in enumerate(known):
        for place, items in zip(own.rows["row"], own.rows["terms"], strict=True):
            rows[int(place) * parts + part] = items
    return link_batch.Side(statistics, languages, (offsets, np.frombuffer(data, np.uint8))), rows


def packed(rows):
    return np.cumsum([0, *map(len, rows)]), np.concatenate([*rows, np.empty(0, np.int64)])


def in_blocks(vectors, side, parts, **options):
    """Query, distance, similarity and row of the nearest in each part of the other side."""
    found = []
    for block in range(parts):
        table = link_batch.nearest(packed(vectors[side]), packed(vectors[1 - side][block::parts]), side, **options)
        found += zip(table["query"], table["distance"], table["similarity"], table["row"] * parts + block, strict=True)
    return found


def within_radius(vectors, bits, tables, window, **options):
    """All pairs within the radius, of both sides: what a window that holds all rows meets."""
    options["bits"] = bits
    signatures = [link_batch.sign(packed(own), **options) for own in vectors]
    distance = np.bitwise_count(signatures[0][:, None] ^ signatures[1]).sum(2, dtype=int)
    sample = link_batch.radius_rows(len(distance))
    radius = link_batch.radius([np.bincount(distance[row], minlength=bits + 1) for row in sample], **options)
    a, b = np.nonzero(distance <= radius.bits)
    cosine = link_batch.cosines(*map(packed, vectors), a, b)
    assert 1000 < len(a) < distance.size
    return [list(zip(x, distance[a, b], cosine, y, strict=True)) for x, y in ((a, b), (b, a))], radius.beyond


def by_lists(vectors, parts, **options):
    """The proposals of both sides; source rows in parts, and all target rows in one block."""
    block = packed(vectors[1])
    target = link_batch.TargetRows(np.bincount(block[1] >> 32), 1)
    assert link_batch.block_starts(np.diff(block[0])) == [0]
    sample = packed([vectors[0][row] for row in link_batch.radius_rows(len(vectors[0]))])
    near = link_batch.true_neighbours(sample, block)
    similarity = near["similarity"].astype(np.float32)
    order = np.lexsort((near["row"], -similarity, near["query"]))
    counts = np.bincount(near["query"], minlength=len(sample[0]) - 1)
    truth = link_batch.Neighbours(np.zeros(0), np.cumsum([0, *counts]), near["row"][order], similarity[order])
    tally = link_batch.try_products(sample, block, 0, truth, target, **options)
    products = link_batch.choose_products(truth, tally, **options)
    found = [], []
    for part in range(parts):
        table = link_batch.propose(packed(vectors[0][part::parts]), block, target, products.most, **options)
        rows, lengths = np.unique(table["query"], return_counts=True)
        kept = link_batch.keep(rows, np.zeros(len(rows)), np.cumsum([0, *lengths]), table["sum"], target, **options)
        assert (kept == lengths).all() and max(lengths) <= 140
        for a, b, cosine in zip(table["query"] * parts + part, table["row"], table["similarity"], strict=True):
            if cosine >= products.beyond:
                found[0].append((a, 0, cosine, b))
                found[1].append((b, 0, cosine, a))
    return found, products.beyond


def by_steps(lexicon, sides, parts, **options):
    """The links, with every step on parts of the rows."""
    known = [of_parts(texts, lexicon, side, parts) for side, texts in enumerate(sides)]
    projector = link_batch.Projector(lexicon, *(side for side, _ in known))
    vectors, sizes = [], []
    for side, (_, rows) in enumerate(known):
        lengths = np.concatenate([projector.lengths(side, packed(rows[at:at + 70])) for at in range(0, len(rows), 70)])
        mean = link_batch.mean_length(sum(lengths.tolist()), len(rows))
        made = [projector.vectors(side, packed(rows[at:at + 50]), mean)["entries"] for at in range(0, len(rows), 50)]
        vectors.append(np.concatenate(made))
        sizes.append(lengths)
    plan, beyond = link_batch.plan(**options), 0
    if options["method"] == "lists":
        (found, beyond), plan = by_lists(vectors, parts, **options), plan._replace(proposals=(10 ** 9, 10 ** 9))
    elif options["method"] == "window":
        (found, beyond), plan = within_radius(vectors, **options), plan._replace(proposals=(10 ** 9, 10 ** 9))
    else:
        found = [in_blocks(vectors, side, parts, **options) for side in (0, 1)]
    neighbours = []
    for side in (0, 1):
        own = [[] for _ in vectors[side]]
        for query, distance, similarity, row in found[side]:
            own[query].append((distance, -similarity, row))
        if plan.proposals[side]:
            own = [[hit for hit in sorted(hits, key=lambda hit: (hit[0], hit[2]))[:plan.proposals[side]] if hit[1] < 0]
                   for hits in own]
        own = [sorted(hits, key=lambda hit: hit[1:])[:plan.neighbours[side]] for hits in own]
        neighbours.append(link_batch.Neighbours(sizes[side], np.cumsum([0, *map(len, own)]),
                                                [hit[2] for hits in own for hit in hits],
                                                [-hit[1] for hits in own for hit in hits]))
    return link_batch.decide(*neighbours, beyond=beyond, **options)


@pytest.mark.parametrize("parts, options", [
    (1, {"method": "exact"}), (4, {"method": "exact", "one_to_one": True}), (3, {"method": "flat", "bits": 256}),
    (2, {"method": "flat", "bits": 128, "calibrated": False, "threshold": 0.2}),
    (2, {"method": "window", "bits": 256, "tables": 1, "window": 10 ** 6}),
    (1, {"method": "lists"}), (3, {"method": "lists", "one_to_one": True, "candidates": 140}),
    (2, {"method": "exact", "k": 40, "hub_neighbours": 0})])
def test_steps_give_the_links_of_one_call(lexicon, sides, parts, options):
    whole = cognate.link(*sides, lexicon=lexicon,
                         **{name: value for name, value in options.items()
                            if name not in ("calibrated", "tables", "window")},
                         knobs={name: value for name, value in options.items() if name in ("tables", "window")})
    steps = by_steps(lexicon, sides, parts, **options)
    assert len(whole) > 150
    for name in ("from", "to", "similarity", "score", "probability"):
        assert (steps[name] == whole[name]).all(), name
    for name in ("links", "expected_precision", "expected_recall_low"):
        assert steps.report.get(name) == whole.report.get(name)


def test_terms_of_parts_are_those_of_the_whole(lexicon, sides):
    (whole, rows), (parts, other) = (of_parts(sides[0], lexicon, 0, count) for count in (1, 5))
    assert whole.statistics.to_bytes() == parts.statistics.to_bytes()
    assert all((a == b).all() for a, b in zip(rows, other, strict=True))
    assert bytes(whole.words[1]) == bytes(parts.words[1]) and len(whole.words[0]) > 100
    with pytest.raises(ValueError, match="do not merge: side"):
        whole.statistics.merge(link_batch.terms(sides[1], lexicon, 1).statistics)


def sentence_vectors(lexicon, tables):
    """The vectors of the sentences of both sides."""
    known = [link_batch.terms(table["text"].to_pylist(), lexicon, side) for side, table in enumerate(tables)]
    words = known[0].words["word"].tolist()
    offsets, data = np.cumsum([0, *(len(word.encode()) for word in words)]), "".join(words).encode()
    sides = [link_batch.Side(part.statistics, part.languages) for part in known]
    projector = link_batch.Projector(lexicon, sides[0]._replace(words=(offsets, np.frombuffer(data, np.uint8))), sides[1])
    rows = [packed(part.rows["terms"]) for part in known]
    means = [link_batch.mean_length(sum(projector.lengths(side, rows[side]).tolist()), len(part.rows))
             for side, part in enumerate(known)]
    return [packed(projector.vectors(side, rows[side], means[side])["entries"]) for side in (0, 1)]


@pytest.mark.parametrize("threshold, path", [(0.5, "pairs.tsv"), (0.3, "pairs.tmx"), (0.9, "pairs.jsonl.gz")])
def test_sentences_of_links_are_those_of_the_program(lexicon, sides, tmp_path, threshold, path):
    documents = [[". ".join(texts[at:at + count]) + ".\nEnde. Ende." for at, count in
                  zip(range(0, 280, 5), [5, 40, 3, 5, 1, 5, 4] * 8, strict=True)] for texts in sides]
    for side, texts in enumerate(documents):
        (tmp_path / f"{side}.jsonl").write_text(
            "".join(json.dumps({"id": f"d {side} {number}", "text": text}) + "\n" for number, text in enumerate(texts)))
    lexicon.save(tmp_path / "lexicon")
    arguments = ["link", "--from", "0.jsonl", "--to", "1.jsonl", "--lexicon", "lexicon", "-k", "2", "--quiet"]
    aligned = ["--sentences", "--sentence-threshold", str(threshold), "--stats", "stats", "-o", path]
    for more in (aligned + (["--format", "jsonl"] if ".jsonl" in path else []), ["-o", "links"]):
        subprocess.run([PROGRAM, *arguments, *more], cwd=tmp_path, check=True)
    rows = [line.split("\t")[:2] for line in (tmp_path / "links").read_text().splitlines()[1:]]
    links = np.array([[int(id.split()[2]) for id in row] for row in rows])
    tables = [pa.table(link_batch.sentences(texts, lexicon, side)) for side, texts in enumerate(documents)]
    own = []
    for side, vectors in enumerate(sentence_vectors(lexicon, tables)):
        texts = [text.encode() for text in tables[side]["text"].to_pylist()]
        ends = np.searchsorted(tables[side]["row"].to_numpy(), np.arange(len(documents[side]) + 1))
        own.append(link_batch.Sentences(ends, vectors, (np.cumsum([0, *map(len, texts)]),
                                                        np.frombuffer(b"".join(texts), np.uint8)), tables[side]["joined"]))
    found, compared = link_batch.align(*own, *links.T, threshold=threshold)
    (tmp_path / "own").mkdir()
    with link_batch.SentenceWriter(lexicon, tmp_path / "own" / path, "jsonl" if ".jsonl" in path else "auto") as writer:
        for row in pa.table(found).to_pylist():
            ids = [f"d {side} {links[row['link'], side]}" for side in (0, 1)]
            writer.add(row["from"], row["to"], row["similarity"], *ids, row["score"])
    stats = json.loads((tmp_path / "stats").read_text())
    assert (tmp_path / "own" / path).read_bytes() == (tmp_path / path).read_bytes()
    assert len(found) > 200 and compared == stats["compared_sentences"]
    assert len(set(found["hash"].tolist())) == stats["sentence_pairs"] < len(found)


def test_sentences_that_do_not_fit_are_refused(lexicon, tmp_path):
    one = link_batch.Sentences([0, 1], packed([np.array([5 << 32])]), ([0, 2], np.zeros(2, np.uint8)), [0])
    assert len(link_batch.align(one, one, [0], [0])[0]) == 0
    with pytest.raises(ValueError, match="link 1 has a document that is not there"):
        link_batch.align(one, one, [0, 1], [0, 0])
    with pytest.raises(ValueError, match="to: 2 sentences and 1 vectors"):
        link_batch.align(one, one._replace(offsets=[0, 2]), [0], [0])
    with pytest.raises(ValueError, match="format 'npy': tsv, jsonl or tmx"):
        link_batch.SentenceWriter(lexicon, tmp_path / "pairs", "npy")
    with pytest.raises(KeyError), link_batch.SentenceWriter(lexicon, tmp_path / "pairs") as writer:
        writer.add("a", "b", 1, "x", "y", 1)
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_is_refused(lexicon, sides):
    known = [link_batch.terms(texts, lexicon, side) for side, texts in enumerate(sides)]
    good = [link_batch.Side(part.statistics, part.languages) for part in known]
    with pytest.raises(ValueError, match="first side are not of this lexicon: side"):
        link_batch.Projector(lexicon, *good[::-1])
    with pytest.raises(ValueError, match="first side are not of this lexicon"):
        link_batch.Projector(lexicon, link_batch.Side(batch.Statistics.collect(sides[0]), (0, 0, 0)), good[1])
    exchanged = pa.table({"text": sides[0], "lang": ["en"] * len(sides[0])})
    wrong = link_batch.terms(exchanged, lexicon, 0)
    with pytest.raises(ValueError, match="swap the sides"):
        link_batch.Projector(lexicon, link_batch.Side(wrong.statistics, wrong.languages), good[1])
    projector = link_batch.Projector(lexicon, *good)
    with pytest.raises(ValueError, match="side 2"):
        projector.lengths(2, packed([]))
    with pytest.raises(ValueError, match="mean length of 0"):
        projector.vectors(0, packed([]), 0)
    with pytest.raises(ValueError, match="ends before it begins"):
        projector.lengths(0, (np.array([0, 4, 2]), np.zeros(2, np.int64)))
    with pytest.raises(ValueError, match="methods exact, lists, flat and window"):
        link_batch.plan(method="lsh")
    falling = packed([np.array([5 << 32, 4 << 32])])
    with pytest.raises(ValueError, match="queries: row 0 is no vector"):
        link_batch.nearest(falling, packed([]), 0, method="exact")
    none = link_batch.Neighbours([3.0], [0, 0], [], [])
    with pytest.raises(ValueError, match="neighbour 3, and there are 1"):
        link_batch.decide(link_batch.Neighbours([3.0], [0, 1], [3], [0.5]), none, method="exact")
    assert len(link_batch.decide(none, none, method="exact")) == 0


@pytest.mark.parametrize("method", ["exact", "flat"])
def test_a_block_may_have_fewer_rows_than_a_document_has_neighbours(method):
    rng = np.random.default_rng(4)
    values = [rng.random((rows, 6)).astype(np.float32) for rows in (5, 3)]

    def vectors(side):
        entries = np.arange(6)[None, :] << 32 | values[side].view(np.int32).astype(np.int64)
        return np.arange(0, entries.size + 1, 6), entries.ravel()
    for side in (0, 1):
        found = link_batch.nearest(vectors(side), vectors(1 - side), side, method=method)
        products = values[side].astype(float) @ values[1 - side].astype(float).T
        measured = np.zeros_like(products)
        measured[found["query"], found["row"]] = found["similarity"]
        assert len(found) == 15 and np.allclose(measured, products, atol=1e-6)
