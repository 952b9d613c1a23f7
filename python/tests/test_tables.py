"""Results as tables, in every library that takes them."""
import gc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

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
