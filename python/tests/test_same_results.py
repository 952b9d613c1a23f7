"""The same results as the command line, bit for bit: by ids, distances, and six decimals of similarities, which is what
tables of text have; signatures byte for byte."""
import json

import numpy as np
import pyarrow as pa
import pytest

import cognate
from conftest import make_texts, shared


def listed(table, *columns):
    """Rows as the program prints them."""
    def cell(name, value):
        if value is None:
            return "-"
        if isinstance(value, bool):
            return str(int(value))
        return f"{value:.6f}" if isinstance(value, float) else str(value)
    place = [table.columns.index(name) for name in columns]
    return [[cell(name, row[i]) for name, i in zip(columns, place)] for row in table.rows()]


@pytest.mark.parametrize("options, flags", [
    ({}, []),
    ({"threshold": 0.5, "keep": "first"}, ["--threshold", "0.5", "--keep", "first"]),
    ({"keep": "last", "threshold": 0.6}, ["--keep", "last", "--threshold", "0.6"]),
    ({"measure": "containment", "threshold": 0.5}, ["--measure", "containment", "--threshold", "0.5"]),
    ({"measure": "cosine", "grouping": "connected"}, ["--measure", "cosine", "--grouping", "connected"]),
    ({"method": "lsh"}, ["--method", "lsh"]),
    ({"tokens": "code"}, ["--tokens", "code"]),
    ({"ngram": 2, "tokens": "chars"}, ["--ngram", "2", "--tokens", "chars"]),
])
def test_dedup(texts, jsonl, run, options, flags):
    result = cognate.dedup(texts, **options)
    expected = run("dedup", jsonl, "-o", "kept.jsonl", "--clusters", "clusters.tsv", *flags, table="clusters.tsv")
    assert expected
    assert listed(result.clusters, "cluster", "row", "representative", "similarity", "kept") == expected
    kept = (run.folder / "kept.jsonl").read_bytes().splitlines()
    lines = jsonl.read_bytes().splitlines()
    assert [lines[row] for row in result.kept] == kept


def test_dedup_against(texts, jsonl, run):
    result = cognate.dedup(texts[300:], against=texts[:300])
    lines = jsonl.read_bytes().splitlines(True)
    (run.folder / "reference.jsonl").write_bytes(b"".join(lines[:300]))
    (run.folder / "rest.jsonl").write_bytes(b"".join(lines[300:]))
    expected = run("dedup", "rest.jsonl", "--against", "reference.jsonl", "--removed", "removed.tsv", table="removed.tsv")
    found = [[str(removed + 300), str(kept), f"{similarity:.6f}"] for removed, kept, similarity in result.pairs.rows()]
    assert expected and found == [row[:3] for row in expected]
    assert len(result.kept) + len(found) == 600


def test_dedup_by_a_field(texts, run):
    rows = [{"id": str(i), "text": text, "stars": (i * 37) % 100} for i, text in enumerate(texts)]
    (run.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = run("dedup", "rows.jsonl", "--clusters", "clusters.tsv", "--keep", "field:stars:min", table="clusters.tsv")
    result = cognate.dedup(run.folder / "rows.jsonl", keep="field:stars:min")
    assert listed(result.clusters, "cluster", "row", "representative", "similarity", "kept") == expected


@pytest.mark.parametrize("options, flags", [
    ({}, []),
    ({"measure": "jaccard", "threshold": 0.4}, ["--measure", "jaccard", "--threshold", "0.4"]),
    ({"measure": "containment", "threshold": 0.6}, ["--measure", "containment", "--threshold", "0.6"]),
    ({"method": "flat", "bits": 256}, ["--method", "flat", "--bits", "256"]),
    ({"method": "window", "knobs": {"tables": 3, "window": 20}}, ["--method", "window", "--tables", "3", "--window", "20"]),
    ({"weighting": "tf", "stem": False}, ["--weighting", "tf", "--stem", "no"]),
])
def test_pairs(texts, jsonl, run, options, flags):
    table = cognate.pairs(pa.table({"text": texts}), **options)
    expected = run("pairs", jsonl, *flags)
    assert expected and listed(table, "a", "b", "similarity", "distance") == expected


def test_pairs_against(texts, jsonl, run):
    table = cognate.pairs(texts[:300], against=jsonl, ids=True)
    (run.folder / "first.jsonl").write_bytes(b"".join(jsonl.read_bytes().splitlines(True)[:300]))
    expected = run("pairs", "first.jsonl", "--against", jsonl)
    assert expected and listed(table, "a_id", "b_id", "similarity", "distance") == expected


@pytest.mark.parametrize("kind", ["simhash", "rp", "topsig", "minhash"])
def test_sign(texts, jsonl, run, kind):
    margins = kind != "minhash"
    made = cognate.sign(texts, kind, 128, margins=margins)
    flags = ["--margins", "margins.npy"] if margins else []
    run("sign", jsonl, "-o", "signatures.npy", "--signature", kind, "--bits", 128, *flags)
    signatures = made[0] if margins else made
    assert np.array_equal(signatures, np.load(run.folder / "signatures.npy"))
    if margins:
        assert np.array_equal(made[1], np.load(run.folder / "margins.npy"))


def test_search(texts, jsonl, run):
    index = cognate.Index.build(texts)
    run("index", "build", "index", jsonl)
    expected = run("search", "index", jsonl, "-k", 5)
    assert listed(index.search(texts, k=5), "query", "rank", "id", "similarity", "distance") == expected
    opened = cognate.Index.open(run.folder / "index")
    assert listed(opened.search(texts, k=5), "query", "rank", "row", "similarity", "distance") == expected
    expected = run("search", "index", jsonl, "--threshold", 0.6)
    assert listed(index.search(texts, threshold=0.6), "query", "rank", "id", "similarity", "distance") == expected


def test_search_signatures(texts, run):
    signatures = cognate.sign(texts, "simhash", 64)
    np.save(run.folder / "signatures.npy", signatures)
    expected = run("search", "signatures.npy", "signatures.npy", "--radius", 8)
    table = cognate.Index.build(signatures).search(signatures, radius=8)
    assert expected and listed(table, "query", "rank", "id", "similarity", "distance") == expected
    expected = run("pairs", "signatures.npy", "--radius", 8)
    assert expected and listed(cognate.pairs(signatures, radius=8), "a", "b", "similarity", "distance") == expected


def two_languages(count):
    """Documents of two made-up languages, word by word, and the sentences to learn them from."""
    english = make_texts(count, seed=3, words=30)
    german = [" ".join("z" + word for word in reversed(text.split())) for text in english]
    return german, english


def test_lexicon_and_links(run):
    german, english = two_languages(120)
    pairs = list(zip(german, english))
    (run.folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    run("lexicon", "train", "pairs.tsv", "--from", "de", "--to", "en", "-o", "lexicon")
    trained = cognate.Lexicon.train(pairs, "de", "en")
    trained.save(run.folder / "own")
    assert (run.folder / "own").read_bytes() == (run.folder / "lexicon").read_bytes()
    lexicon = cognate.Lexicon.open(run.folder / "lexicon")
    assert (lexicon.source, lexicon.target, lexicon.words) == ("de", "en", trained.words)
    for name, side in ("de.txt", german), ("en.txt", english):
        (run.folder / name).write_text("\n".join(side) + "\n")
    expected = run("link", "--from", run.folder / "de.txt", "--to", run.folder / "en.txt", "--lexicon", "lexicon",
                   "--lines")
    table = cognate.link(run.folder / "de.txt", run.folder / "en.txt", lexicon=lexicon, lines=True, ids=True)
    assert len(expected) > 60
    assert listed(table, "from_id", "to_id", "similarity", "score", "probability") == expected
    memory = cognate.link(german, english, lexicon=lexicon)
    assert memory["from"].tolist() == table["from"].tolist() and memory["score"].tolist() == table["score"].tolist()
    across = cognate.pairs(german, against=english, lexicon=lexicon, threshold=0.4)
    expected = run("pairs", "de.txt", "--against", "en.txt", "--lexicon", "lexicon", "--lines", "--threshold", 0.4)
    assert [row[2:] for row in expected] == listed(across, "similarity", "distance")
    explanation = cognate.explain(german[0], english[0], lexicon=lexicon)
    assert explanation.similarity > 0.5 and sum(word.share for word in explanation.words) == pytest.approx(1)


def test_related(run):
    rows = [f"query {i % 40}\thttp://site{(i * 7 + i // 40) % 23}.org/\t{i % 5 + 1}\n" for i in range(800)]
    (run.folder / "log.tsv").write_text("".join(rows))
    expected = run("related", "log.tsv", "--threshold", 0.3)
    table = cognate.related(run.folder / "log.tsv", threshold=0.3)
    assert expected and listed(table, "a_id", "b_id", "similarity", "distance") == expected
    queries = ["query 3", "query 17", "nowhere"]
    (run.folder / "mine.txt").write_text("\n".join(queries))
    expected = run("related", "log.tsv", "--threshold", 0.3, "--queries", "mine.txt")
    for given in queries, iter(queries), run.folder / "mine.txt":
        table = cognate.related(run.folder / "log.tsv", queries=given, threshold=0.3)
        assert expected and listed(table, "a_id", "b_id", "similarity", "distance") == expected
    assert table.report["unknown_queries"] == 1
    with pytest.raises(TypeError, match="a query must be a str"):
        cognate.related(run.folder / "log.tsv", queries=[1])
    with pytest.raises(ValueError, match="cosine"):
        cognate.related(run.folder / "log.tsv", queries=queries, measure="jaccard")


def test_explain(run):
    for name, text in ("a.txt", "storms closed the mountain road"), ("b.txt", "the mountain road was closed by snow"):
        (run.folder / name).write_text(text)
    explanation = cognate.explain("storms closed the mountain road", "the mountain road was closed by snow")
    words = {word.source for word in explanation.words}
    assert words == {"close", "mountain", "road"}
    assert words <= {field for row in run("explain", "a.txt", "b.txt") for field in row} | words


@pytest.mark.parametrize("name", ["neardup/revisions_mdn_en", "neardup/revisions_gesetze_de"])
def test_shared_near_duplicates(run, name):
    """Real pages, from a compressed file and from memory."""
    folder = shared(name)
    path = next(path for path in sorted(folder.iterdir()) if ".jsonl" in path.name)
    from_file = cognate.dedup(path, ids=True)
    expected = run("dedup", path, "--clusters", "clusters.tsv", table="clusters.tsv")
    assert listed(from_file.clusters, "cluster", "id", "representative_id", "similarity", "kept") == expected
    assert len(from_file.kept) + len(from_file.pairs) + len(from_file.skipped) == from_file.report["documents"] + len(
        from_file.skipped)
