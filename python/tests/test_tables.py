"""Results as tables, in every library that takes them."""
import gc
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cognate


def make():
    return cognate.dedup(pa.table({"text": ["a b c d", "a b c d", "e f g h", "e f g h"], "id": list("wxyz")}),
                         ids=True).clusters


def test_arrow_outlives_the_table():
    table = make()
    arrow, stream, column = pa.table(table), table.__arrow_c_stream__(), table["row"]
    del table
    gc.collect()
    assert arrow.column("id").to_pylist() == list("wxyz") and arrow.validate(full=True) is None
    assert column.tolist() == [0, 1, 2, 3]
    assert pa.RecordBatchReader._import_from_c_capsule(stream).read_all().equals(arrow)


def test_columns_are_views():
    table = make()
    first, second = table["similarity"], table["similarity"]
    assert not first.flags.owndata and not first.flags.writeable
    assert first.__array_interface__["data"][0] == second.__array_interface__["data"][0]


def test_libraries():
    table = make()
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame) and frame["kept"].tolist() == [True, False, True, False]
    polars = table.to_polars()
    assert isinstance(polars, pl.DataFrame) and polars["representative"].to_list() == [0, 0, 2, 2]
    assert pl.DataFrame(table).equals(polars)
    assert {name: column.tolist() for name, column in table.to_numpy().items()} == polars.to_dict(as_series=False)
    assert table.to_arrow().to_pylist()[3] == dict(zip(table.columns, list(table.rows())[3]))


def test_nulls():
    table = cognate.pairs(["a b c d e", "a b c d e"], measure="jaccard")
    assert table["distance"].tolist() == [-1] and table.to_pandas()["distance"].isna().tolist() == [True]
    assert table.to_polars()["distance"].to_list() == [None] and list(table.rows())[0][3] is None
    assert table.to_arrow().column("distance").null_count == 1


def test_report():
    table = cognate.pairs(["a b c d e f"] * 30, method="flat")
    assert table.report["documents"] == 30 and "recall" in str(table.report)
    assert repr(table) == "<cognate.Table: 435 rows of a, b, similarity, distance>"


def test_many_exports_leak_nothing():
    table = make()
    for _ in range(200):
        pa.table(table)
        table.__arrow_c_stream__()
    assert pa.table(table).num_rows == 4 and np.array_equal(table["cluster"], [0, 0, 1, 1])


def test_pickling():
    """A table and a result that went through another process are the same, and speak Arrow."""
    documents = pa.table({"text": ["a b c d", "a b c d", None, "ünïcödé words here", ""], "id": list("vwxyz")})
    result = cognate.dedup(documents, ids=True)
    again = pickle.loads(pickle.dumps(result))
    assert again.kept.tolist() == result.kept.tolist() and again.skipped == [2] and again.report == result.report
    for mine, theirs in ((result.clusters, again.clusters), (result.pairs, again.pairs),
                         (cognate.pairs([]), pickle.loads(pickle.dumps(cognate.pairs([]))))):
        assert mine.to_arrow().equals(theirs.to_arrow()) and list(mine) == list(theirs.rows())
        theirs.to_arrow().validate(full=True)
    hits = cognate.Index.build(["one text", "another one"]).search(["text", "one"], k=2)
    assert list(pickle.loads(pickle.dumps(hits))) == list(hits) != []


def test_damaged_pickles_are_refused():
    from cognate import _cognate
    whole = ("x", "U", 0, None, np.array([0, 1], np.int64).tobytes(), b"a")
    assert len(_cognate.table_of_columns(1, [whole])) == 1
    for rows, column in ((2, whole), (1, (*whole[:5], b"")), (1, (*whole[:1], "z", *whole[2:])),
                         (1, ("x", "l", 0, None, b"1234567", None)), (9, ("x", "b", 0, b"1", b"12", None)),
                         (1, (*whole[:4], np.array([1, 0], np.int64).tobytes(), b"ab"))):
        with pytest.raises(ValueError, match="damaged"):
            _cognate.table_of_columns(rows, [column])
