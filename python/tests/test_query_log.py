"""Query logs in memory and from Parquet: the answer is that of a file with the same rows."""
import subprocess
import sys

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cognate
from test_same_results import listed

FORMS = {"plain": lambda log: log, "chunks": lambda log: pa.concat_tables([log[:300], log[300:]]),
         "slice": lambda log: pa.concat_tables([log[:9], log])[9:],
         "dictionary": lambda log: log.set_column(0, "query", log["query"].dictionary_encode()),
         "large": lambda log: log.cast(pa.schema([("query", pa.large_string()), ("url", pa.string()), ("clicks", pa.float32())])),
         "pandas": lambda log: log.to_pandas(), "polars": lambda log: polars.from_arrow(log),
         "lazy": lambda log: polars.from_arrow(log).lazy(), "names": lambda log: log.rename_columns(["Query", "ClickURL", "Clicks"]),
         "rows": lambda log: [tuple(row.values()) for row in log.to_pylist()],
         "generator": lambda log: (list(row.values()) for row in log.to_pylist()),
         "NumPy": lambda log: np.array([tuple(row.values()) for row in log.to_pylist()], object)}


@pytest.mark.parametrize("form", FORMS)
def test_related_of_tables(run, form):
    rows = [(f"query {i % 40}", f"http://site{(i * 7 + i // 40) % 23}.org/", i % 5 + 1.5) for i in range(800)]
    rows[7] = (None, "x.org", 1.0)
    rows[47] = ("query 7", None, None)
    rows[99] = ("query 19", "x.org", None)
    queries, urls, clicks = zip(*rows)
    log = pa.table({"query": queries, "url": urls, "clicks": clicks})
    lines = ["\t".join("" if value is None else str(value) for value in row) for row in rows]
    lines[47] = "query 7\t\t1"
    (run.folder / "log.tsv").write_text("\n".join(lines))
    expected = run("related", "log.tsv", "--threshold", 0.3)
    table = cognate.related(FORMS[form](log), threshold=0.3)
    assert expected and listed(table, "a_id", "b_id", "similarity", "distance") == expected
    assert table.skipped == [7, 99]
    assert [queries[row] for row in table["a"]] == table["a_id"].tolist()
    assert [queries[row] for row in table["b"]] == table["b_id"].tolist()
    given = cognate.related(FORMS[form](log), queries=["query 3"], threshold=0.3)
    assert len(given) and set(given["a_id"]) == {"query 3"} and given["a"].tolist() == [3] * len(given)


def test_related_of_parquet(run):
    log = pa.table({"query": ["a", "b", "a\tc", None] * 20, "url": [f"u{i % 7}" for i in range(80)],
                    "clicks": [i % 3 + 0.25 for i in range(80)]})
    pq.write_table(log, run.folder / "log.parquet")
    table = cognate.related(run.folder / "log.parquet", threshold=0.2)
    assert len(table) == 3 and table.skipped == list(range(3, 80, 4))
    said = subprocess.run([sys.executable, "-m", "cognate._program", "related", "log.parquet", "--threshold", "0.2"],
                          cwd=run.folder, capture_output=True, text=True, check=True).stdout
    assert [line.split("\t") for line in said.splitlines()[1:]] == [
        [name.replace("\t", " ") for name in row] for row in listed(table, "a_id", "b_id", "similarity", "distance")]
