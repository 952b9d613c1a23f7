"""What goes in, and what is said about input that cannot."""
import gzip
import json
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cognate

TEXTS = ["the quick brown fox jumps over the lazy dog near the bank", None,
         "the quick brown fox jumps over the lazy dog near the bank", "", "ünïcödé text stands alone in the cold 漢字"]
GOOD = ["other words" if text is None else text for text in TEXTS]


CODES = np.zeros((2, 8), np.uint8)
INDEX = cognate.Index.build(["a text"])
LEXICON = cognate.Lexicon.train([("das Haus", "the house"), ("ein Haus", "a house")] * 5, "de", "en")


def clusters(documents, **options):
    result = cognate.dedup(documents, **options)
    return result.kept.tolist(), [row[:2] for row in result.pairs.rows()], result.skipped


EXPECTED = ([0, 3, 4], [(2, 0)], [1])
WHOLE = ([0, 1, 3, 4], [(2, 0)], [])


@pytest.mark.parametrize("documents", [
    TEXTS, tuple(TEXTS), np.array(TEXTS, object), pd.Series(TEXTS), pl.Series(TEXTS),
    pa.array(TEXTS), pa.array(TEXTS, pa.large_string()), pa.array(TEXTS, pa.string_view()),
    pa.chunked_array([TEXTS[:2], [], TEXTS[2:]], pa.string()),
    pa.table({"text": TEXTS, "other": range(5)}), pa.table({"only": TEXTS}),
    pa.record_batch({"text": TEXTS, "other": range(5)}),
    pd.DataFrame({"text": TEXTS, "id": range(5)}), pl.DataFrame({"text": TEXTS, "id": range(5)}),
    pa.array(["in front", *TEXTS, "behind"])[1:-1], pa.table({"text": ["in front", *TEXTS]}).slice(1),
    [None if text is None else text.encode() for text in TEXTS],
    pl.LazyFrame({"text": TEXTS}), pd.Series(TEXTS, dtype="category"), pl.Series(TEXTS, dtype=pl.Categorical),
    pd.DataFrame({"text": pd.Series(TEXTS, dtype="category"), "lang": None}), pa.array(TEXTS).dictionary_encode(),
    pa.table({"text": pa.chunked_array([TEXTS[:2], TEXTS[2:]]).dictionary_encode(), "id": [7, 8, 9, 10, 11]}).slice(0),
    pa.array([None if text is None else text.encode() for text in TEXTS], pa.binary()),
    pa.table({"text": TEXTS, "id": pa.nulls(5), "lang": pa.nulls(5)}), np.array(TEXTS, np.dtypes.StringDType(na_object=None)),
    iter(TEXTS),
], ids=lambda documents: type(documents).__name__)
def test_kinds_of_documents(documents):
    assert clusters(documents) == EXPECTED


def test_generators_and_text_arrays():
    assert clusters(text for text in TEXTS) == EXPECTED
    assert clusters(np.array(GOOD)) == WHOLE


def test_names_of_columns():
    table = pa.table({"body": TEXTS, "key": ["a", "b", "c", "d", "e"], "text": ["x"] * 5})
    result = cognate.dedup(table, text="body", id="key", ids=True)
    assert result.clusters["id"].tolist() == ["a", "c"] and result.clusters["representative_id"].tolist() == ["a", "a"]


def test_lone_surrogates_and_bytes_that_are_no_text_are_skipped():
    assert clusters(["good text", "bad \ud800 text", b"bad \xff text", "other words"])[2] == [1, 2]


def test_paths(tmp_path):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in GOOD)
    (tmp_path / "a.jsonl").write_text(lines)
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write(lines)
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "c.parquet", row_group_size=2)
    pd.DataFrame({"text": GOOD}).to_csv(tmp_path / "d.csv", index=False)
    assert clusters(tmp_path / "a.jsonl") == clusters(str(tmp_path / "b.jsonl.gz")) == WHOLE
    assert clusters(tmp_path / "c.parquet") == EXPECTED
    assert clusters(tmp_path / "d.csv")[1] == [(2, 0)]
    several = cognate.dedup([tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"])
    assert several.kept.tolist() == [0, 1, 3, 4]
    (tmp_path / "lines.txt").write_text("one line here\nanother line there\n")
    assert len(cognate.dedup(tmp_path / "lines.txt", lines=True).kept) == 2


def test_data_sets_on_disk(tmp_path):
    """As datasets.save_to_disk writes them."""
    table = pa.table({"text": TEXTS})
    with pa.ipc.new_stream(tmp_path / "data-00000-of-00001.arrow", table.schema) as writer:
        writer.write_table(table)
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    assert clusters(tmp_path) == EXPECTED


def test_data_sets_by_their_library(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    data = datasets.Dataset.from_dict({"text": TEXTS})
    assert clusters(data) == EXPECTED
    data.save_to_disk(tmp_path / "one", num_shards=2)
    assert clusters(tmp_path / "one") == EXPECTED
    datasets.DatasetDict(train=data, test=data).save_to_disk(tmp_path / "several")
    with pytest.raises(ValueError, match="name one of .*several/train, .*several/test"):
        cognate.dedup(tmp_path / "several")
    with pytest.raises(TypeError, match="name one of train, test"):
        cognate.dedup(datasets.DatasetDict(train=data, test=data))


def test_data_sets_that_come_as_a_stream():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": TEXTS * 500, "id": list(map(str, range(2500)))}).to_iterable_dataset(3)
    result = cognate.dedup(data, ids=True)
    assert (len(result.kept), len(result.skipped)) == (3, 500)
    assert result.clusters["id"][:2].tolist() == ["0", "2"]
    assert cognate.dedup(data.filter(lambda row: False)).kept.tolist() == []


def test_relations_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    rows = pa.table({"text": TEXTS})
    assert clusters(duckdb.sql("select text from rows")) == EXPECTED and len(rows) == len(TEXTS)
    pairs = cognate.pairs(GOOD, measure="jaccard")
    assert duckdb.sql("select count(*) from pairs").fetchall() == [(len(pairs),)]


@pytest.mark.parametrize("call, kind, message", [
    (lambda: cognate.dedup(pa.table({"a": ["x"], "b": ["y"]})), ValueError, 'no column "text"'),
    (lambda: cognate.dedup(pa.table({"text": [1]})), ValueError, "cast it to string"),
    (lambda: cognate.dedup(pa.array([1]).dictionary_encode()), ValueError, "cast it to string"),
    (lambda: cognate.dedup(["x"], recall=2), ValueError, "a recall of 2"),
    (lambda: cognate.dedup(["x"], threshold="much"), TypeError, "threshold must be a number, not 'much'"),
    (lambda: cognate.dedup(["x"], ngram=1.5), TypeError, "ngram must be a whole number, not 1.5"),
    (lambda: cognate.dedup(["x"], keep=None), TypeError, "keep is longest, first, last or field:NAME"),
    (lambda: cognate.dedup(["x"], keep="field:stars"), ValueError, "give a table"),
    (lambda: cognate.dedup(pa.table({"text": ["x"], "likes": [1]}), keep="field:stars"), ValueError, '"likes"'),
    (lambda: cognate.dedup(pa.table({"text": ["x"], "good": [True]}), keep="field:good"), ValueError, "cast it"),
    (lambda: cognate.dedup(["x"], progress="yes"), TypeError, "progress is True or a function"),
    (lambda: cognate.dedup(["x"], knobs=[3]), TypeError, "knobs are a dict"),
    (lambda: cognate.dedup(None), TypeError, "not NoneType"),
    (lambda: cognate.dedup(5), TypeError, "documents are a list of texts, a table, or paths, not int"),
    (lambda: cognate.dedup("a text that is no path"), OSError, "texts are a list of str"),
    (lambda: cognate.dedup(["a", float("nan")]), TypeError, "document 1: texts, ids and languages are str, or None"),
    (lambda: cognate.dedup(np.array("abc")), TypeError, "one dimension"),
    (lambda: cognate.dedup(np.zeros((2, 8), np.uint8)), TypeError, "documents are an array of texts"),
    (lambda: cognate.pairs(np.zeros((2, 8), np.float32)), TypeError, "signatures are uint8"),
    (lambda: cognate.pairs(np.zeros((2, 8), np.uint8), ["x"], radius=1), TypeError, "not list"),
    (lambda: cognate.pairs(np.zeros((2, 8), np.uint8), radius=-1), ValueError, "radius of -1"),
    (lambda: cognate.sign(["x"], term_counts=np.zeros(1, np.float32)), TypeError, "uint32 [1]"),
    (lambda: cognate.sign(["x"], term_counts=np.zeros(2, np.uint32)), TypeError, "uint32 [1]"),
    (lambda: cognate.sign(["x"], statistics=5), TypeError, "cognate.batch.Statistics"),
    (lambda: cognate.link(["x"], ["y"], lexicon=None), TypeError, "link needs a lexicon"),
    (lambda: cognate.link(["x"], ["y"], lexicon="de-en.lex"), TypeError, "Lexicon.open, not 'de-en.lex'"),
    (lambda: cognate.explain(None, "x"), TypeError, "two texts, not None"),
    (lambda: cognate.related(pa.table({"query": ["x"]})), ValueError, 'no column "url": a query log has'),
    (lambda: cognate.related(pa.table({"query": [1], "url": ["x"]})), ValueError, '"query" has the format "l": cast it'),
    (lambda: cognate.related(pa.table({"query": ["x"], "url": ["x"], "clicks": ["1"]})), ValueError, "an integer or a double"),
    (lambda: cognate.related(pa.array(["x"])), ValueError, "no table"),
    (lambda: cognate.related({"query": ["x"]}), TypeError, "not dict"),
    (lambda: cognate.related(None), TypeError, "not NoneType"),
    (lambda: cognate.related(["x.tsv", ("x", "y")]), TypeError, "row 0: a row is (query, url, clicks)"),
    (lambda: cognate.related([("x", "y", 1), ("x",)]), TypeError, "row 1: a row is (query, url, clicks)"),
    (lambda: cognate.related([("x", 5, 1)]), TypeError, "row 0: a url is a str, or None if there is none, not 5"),
    (lambda: cognate.related([("x", "y", "1")]), TypeError, "row 0: clicks are a number, or None, not '1'"),
    (lambda: cognate.related([("x", "y", 1)], text="query"), TypeError, "text does not go with"),
    (lambda: cognate.related([("x", "y", 1), (None, "y", 1)], strict=True), ValueError, "row 1: the query is null"),
    (lambda: cognate.Lexicon.train([("a",)], "de", "en"), TypeError, "zip(a, b)"),
    (lambda: cognate.Lexicon.train(pd.DataFrame({"a": ["x"], "b": ["y"]}), "de", "en"), TypeError, "not a table"),
    (lambda: cognate.Index.build(["x", "y"], ids=["a"]), ValueError, "1 ids for 2 documents"),
    (lambda: cognate.Index.build(pa.table({"text": ["x"]}), ids=["a"]), TypeError, "name it by id"),
    (lambda: cognate.Index.build("x.jsonl", ids=["a"]), TypeError, "name it by id"),
    (lambda: cognate.Index.build(np.zeros((1, 8), np.uint8), ids=["a"]), TypeError, "signatures have no ids"),
    (lambda: cognate.Seen()(None), TypeError, "a text is a str, not None"),
    (lambda: cognate.Seen(threshold="much"), TypeError, "threshold must be a number, not 'much'"),
    (lambda: cognate.Seen(ngram=-1), ValueError, "ngram of -1: it must be 0 or more"),
    (lambda: INDEX.search("x", k=[10]), TypeError, "k must be a whole number, not [10]"),
    (lambda: INDEX.search("x", treshold=0.5), TypeError, "unexpected option treshold"),
    (lambda: INDEX.add(["x"], treshold=0.5), TypeError, "unexpected option treshold"),
    (lambda: INDEX.remove(["0"], treshold=0.5), TypeError, "unexpected option treshold"),
    (lambda: INDEX.compact(treshold=0.5), TypeError, "unexpected option treshold"),
    (lambda: cognate.nonsense, AttributeError, "nonsense"),
    (lambda: cognate.dedup(["x"], threshold=2), ValueError, "threshold"),
    (lambda: cognate.dedup(["x"], method="nonsense"), ValueError, "no method 'nonsense'"),
    (lambda: cognate.dedup(["x"], method="slices"), ValueError, ""),
    (lambda: cognate.dedup(["x"], keep="shortest"), ValueError, "keep has no value 'shortest'"),
    (lambda: cognate.dedup(["x"], treshold=0.5), TypeError, "treshold"),
    (lambda: cognate.dedup(["x"], threads=-1), ValueError, "threads"),
    (lambda: cognate.dedup(["x"], threads="two"), TypeError, ""),
    (lambda: cognate.dedup(["x"], memory="much"), ValueError, "memory of 'much'"),
    (lambda: cognate.dedup(["a text"] * 1000, memory=1), MemoryError, "budget"),
    (lambda: cognate.dedup([1, 2]), TypeError, "not 1"),
    (lambda: cognate.dedup({"text": ["a", "b"]}), TypeError, "not dict"),
    (lambda: cognate.dedup(pa.table({"body": ["a", "b"]}), text="bodi"), ValueError, 'no column "bodi"'),
    (lambda: cognate.dedup(["x"], measure="jacard"), ValueError, "cosine, jaccard, containment"),
    (lambda: cognate.dedup("/no/such/file.jsonl"), OSError, "/no/such/file.jsonl"),
    (lambda: cognate.dedup("/no/such/file.parquet"), OSError, "file.parquet"),
    (lambda: cognate.dedup(["x"], text="body"), TypeError, "text names a column"),
    (lambda: cognate.dedup(pa.table({"text": ["x"]}), lines=True), TypeError, "about files"),
    (lambda: cognate.dedup(pa.table({"text": ["x", None]}), strict=True), ValueError, "document 1: the text is null"),
    (lambda: cognate.pairs(["x"], radius=3), TypeError, "radius compares signatures"),
    (lambda: cognate.pairs(np.zeros((2, 8), np.uint8), np.zeros((2, 4), np.uint8)), ValueError, "64 and of 32 bits"),
    (lambda: cognate.sign(["x"], "simhash", 12), ValueError, ""),
    (lambda: cognate.sign(["x"], "md5"), ValueError, "md5"),
    (lambda: cognate.sign("file.jsonl"), TypeError, "sign takes documents in memory"),
    (lambda: cognate.Index.open("/no/such/index"), OSError, "/no/such/index"),
    (lambda: cognate.Index.build(["a b"]).search(np.zeros((1, 8), np.uint8)), ValueError, "64 bits"),
    (lambda: cognate.Index.build(np.zeros((1, 8), np.uint8)).search("text"), ValueError, "signatures"),
    (lambda: cognate.Lexicon.open("/no/such/lexicon"), OSError, "/no/such/lexicon"),
    (lambda: cognate.Table["x"], TypeError, ""),
    (lambda: cognate.dedup([{"text": "a"}]), TypeError, "rows are given as a table"),
    (lambda: cognate.dedup(["x"], memory="1e400G"), ValueError, "memory of '1e400G'"),
    (lambda: cognate.dedup(["x"], stem="no"), TypeError, "stem must be True or False, not 'no'"),
    (lambda: cognate.dedup(["x"], ids=["a"]), TypeError, "ids is True or False, not ['a']; ids of documents are a column"),
    (lambda: cognate.pairs(["x"], ids="yes"), TypeError, "ids is True or False"),
    (lambda: cognate.pairs(["x"], lexicon=LEXICON), TypeError, "against has the documents in its target language"),
    (lambda: cognate.pairs(CODES, lexicon=LEXICON), TypeError, "signatures have no language"),
    (lambda: cognate.pairs(CODES, radius=1.5), TypeError, "radius must be a whole number, not 1.5"),
    (lambda: cognate.pairs(CODES, radius=3, threshold=0.9), TypeError, "by a radius or by a threshold"),
    (lambda: cognate.sign(["x"], signature="rp"), TypeError, "the argument kind"),
    (lambda: cognate.sign([pathlib.Path("a.jsonl")]), TypeError, "sign takes documents in memory"),
    (lambda: cognate.link(["x"], ["y"], lexicon=LEXICON, k=-1), ValueError, "k of -1"),
    (lambda: cognate.link(["x"], ["y"], lexicon=LEXICON, ids=1), TypeError, "ids is True or False"),
    (lambda: cognate.Lexicon.train({"a": "b"}, "de", "en"), TypeError, "not dict"),
    (lambda: cognate.Lexicon.train(None, "de", "en"), TypeError, "not NoneType"),
    (lambda: cognate.Index.build(["x"], recall="much"), TypeError, "recall must be a number"),
    (lambda: cognate.Index.build(["x"]).remove([None]), TypeError, "None is no id"),
    (lambda: cognate.Index.build(["x y"]).search("x", ids=["0"]), TypeError, "ids is True or False"),
    (lambda: cognate.batch.clusters(3, [0], [1], keys=[1]), ValueError, "1 keys of 3 rows"),
    (lambda: cognate.batch.clusters(3, [0], [1], keys=[-1, 0, 0]), ValueError, "keys are whole numbers"),
    (lambda: cognate.batch.clusters(3, [0, 1], [1, 2], [1.0]), ValueError, "1 similarities of 2 pairs"),
    (lambda: cognate.batch.clusters(3, [0], [1], [float("nan")]), ValueError, "pair 0 has no similarity"),
    (lambda: cognate.batch.clusters(3, [0.5], [1]), TypeError, "rows are whole numbers, not float64"),
    (lambda: cognate.pairs(["a", "b"])["c"], KeyError, "no column 'c'"),
])
def test_errors(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


def test_a_frame_needs_pyarrow(monkeypatch):
    """Without it, pandas offers no stream; a frame must not be taken for the list of its columns."""
    def no_stream(self, requested_schema=None):
        raise ImportError("pyarrow is missing")
    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", no_stream)
    with pytest.raises(TypeError, match="pip install pyarrow"):
        cognate.dedup(pd.DataFrame({"text": TEXTS, "id": range(5)}))


def test_ids_that_are_no_texts():
    index = cognate.Index.build(["one text", "another text", "a third text"], ids=[b"a", 7, None])
    assert index.search("text", k=3)["id"].tolist() == ["a", "7", "2"]
    assert index.remove([b"a", 7]) == 2 and index.remove(b"2") == 1


def test_parallel_text_with_lone_surrogates():
    """Such a pair is left out, as such documents are."""
    pairs = [("das Haus", "the house"), ("ein Haus", "a house")] * 5
    trained = cognate.Lexicon.train([*pairs, ("das \ud800", "the house")], "de", "en")
    assert trained.checksum == LEXICON.checksum


def test_numbers_of_numpy():
    assert len(cognate.pairs(CODES, radius=np.int64(3))) == 1
    assert len(cognate.pairs(["a b c d"] * 3, threshold=np.float32(0.5), ngram=np.int64(2), threads=np.int32(1))) == 3


@pytest.mark.parametrize("values, kept", [
    ([3, 9, None, -4, 7], 1), ([0.5, float("nan"), None, 1e300, 7], 3), (["2024-05-01", None, "2023", "2024-04-30", ""], 0),
    (pa.array([1, 2, 3, 5, 4], pa.timestamp("us")), 3), (pa.array([1, 2, 3, 0, None], pa.date32()), 2),
    (pa.array([1, 2, 3, 0, 2], pa.float32()), 2), (pa.array(["c", "a", None, "b", "a"]).dictionary_encode(), 0),
])
def test_keep_by_a_column(values, kept):
    """The greatest value stays, whatever the chunks; with :min the least one. Null and NaN come last."""
    table = pa.table({"text": ["the same text for all of them"] * 5, "value": values})
    for way in table, pa.concat_tables([table[:2], table[2:]]), pa.concat_tables([table, table])[5:]:
        assert cognate.dedup(way, keep="field:value").kept.tolist() == [kept]
    least = cognate.dedup(pa.table({"text": table["text"], "value": [3, 9, None, -4, 7]}), keep="field:value:min")
    assert least.kept.tolist() == [3]
    numbers = cognate.dedup(pd.DataFrame({"text": ["a b c d"] * 3, "stars": [1, 5, 2]}), keep="field:stars")
    assert numbers.kept.tolist() == [1]


def test_nothing_comes_in_and_nothing_goes_out():
    result = cognate.dedup([])
    assert len(result.kept) == len(result.clusters) == len(result.pairs) == 0
    assert cognate.dedup(pa.table({"text": pa.array([], pa.string())})).kept.tolist() == []
    assert cognate.sign([], bits=64).shape == (0, 8)
    assert len(cognate.pairs([])) == 0


def test_no_document_is_left():
    """A batch of a stream may have nulls alone: they are skipped, as others are."""
    nulls = pa.table({"text": pa.array([None, None], pa.string())})
    for documents in nulls, [None, "\udc80"]:
        result = cognate.dedup(documents, against=documents)
        assert (len(result.kept), result.skipped, result.skipped_against) == (0, [0, 1], [0, 1])
        for measure in "cosine", "jaccard", "containment":
            table = cognate.pairs(documents, measure=measure)
            assert (len(table), table.skipped) == (0, [0, 1])
            index = cognate.Index.build(["a text that stays"], measure=measure)
            index.add(documents)
            assert len(index) == 1 and index.skipped == [0, 1]
            assert len(index.search(documents, threshold=0.5)) == 0
        for method in "flat", "lsh", "window":
            assert len(cognate.pairs(documents, method=method)) == 0
        for kind in "rp", "simhash", "minhash", "topsig":
            assert not cognate.sign(documents, kind, 64).any()
    assert cognate.related([(None, "x.org", 1)]).skipped == [0]
