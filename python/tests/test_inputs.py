"""What goes in, and what is said about input that cannot."""
import gzip
import json

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


def test_relations_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    rows = pa.table({"text": TEXTS})
    assert clusters(duckdb.sql("select text from rows")) == EXPECTED and len(rows) == len(TEXTS)
    pairs = cognate.pairs(GOOD, measure="jaccard")
    assert duckdb.sql("select count(*) from pairs").fetchall() == [(len(pairs),)]


@pytest.mark.parametrize("call, kind, message", [
    (lambda: cognate.dedup(pa.table({"a": ["x"], "b": ["y"]})), ValueError, 'no column "text"'),
    (lambda: cognate.dedup(pa.table({"text": [1]})), ValueError, "cast it to string"),
    (lambda: cognate.dedup(pa.array(["x"]).dictionary_encode()), ValueError, "dictionary"),
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
    (lambda: cognate.dedup([None, None]), ValueError, "none of the 2 records"),
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
    (lambda: cognate.pairs(["a", "b"])["c"], KeyError, "no column 'c'"),
])
def test_errors(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert message in str(caught.value)


def test_nothing_comes_in_and_nothing_goes_out():
    result = cognate.dedup([])
    assert len(result.kept) == len(result.clusters) == len(result.pairs) == 0
    assert cognate.dedup(pa.table({"text": pa.array([], pa.string())})).kept.tolist() == []
    assert cognate.sign([], bits=64).shape == (0, 8)
    assert len(cognate.pairs([])) == 0
