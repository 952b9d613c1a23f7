"""The program that comes with the package, and Parquet on top of it."""
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cognate
from conftest import PROGRAM


@pytest.fixture
def program(tmp_path):
    def call(*arguments, status=0):
        command = [os.path.join(os.path.dirname(sys.executable), "cognate")]
        if not os.path.exists(command[0]):
            command = [sys.executable, "-m", "cognate._program"]
        done = subprocess.run([*command, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr
    return call


def test_version_and_help(program):
    assert program("--version") == f"cognate {cognate.__version__}\n"
    assert "dedup" in program("--help")
    assert os.access(PROGRAM, os.X_OK)


def test_exit_status(program):
    assert "cognate" in program("dedup", "no-such-file", "-o", "x", status=2)
    assert "in.parquet" in program("dedup", "in.parquet", "-o", "out.parquet", status=2)


def test_parquet(program, texts, tmp_path):
    rows = [*texts[:200], None, *texts[200:]]
    table = pa.table({"title": [f"t{i}" for i in range(901)], "text": rows, "stars": range(901)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=100)
    said = program("dedup", "in.parquet", "-o", "out.parquet", "--threshold", "0.7", "--clusters", "clusters.tsv")
    result = cognate.dedup(table, threshold=0.7)
    assert pq.read_table(tmp_path / "out.parquet").equals(table.take(result.kept))
    assert f"{len(result.kept)} kept" in said
    assert (tmp_path / "clusters.tsv").read_text().splitlines()[1].split("\t")[1].startswith("in.parquet:")
    assert "name the column" in program("dedup", "in.parquet", "-o", "x.parquet", "--text-field", "body", status=2)
    assert ".parquet" in program("dedup", "in.parquet", "-o", "x.jsonl", status=2)


def test_parquet_in_other_commands(program, texts, tmp_path):
    pq.write_table(pa.table({"body": texts[:200], "key": range(200)}), tmp_path / "in.parquet")
    out = program("pairs", "in.parquet", "--text-field", "body", "--id-field", "key")
    first = out.splitlines()[1].split("\t")
    table = cognate.pairs(texts[:200])
    assert [int(first[0]), int(first[1])] == [table["a"][0], table["b"][0]]
    (tmp_path / "set").mkdir()
    data = pa.table({"text": texts[:50]})
    with pa.ipc.new_stream(tmp_path / "set/data.arrow", data.schema) as writer:
        writer.write_table(data)
    (tmp_path / "set/state.json").write_text(json.dumps({"_data_files": [{"filename": "data.arrow"}]}))
    program("sign", "set", "-o", "signatures.npy")
    assert (tmp_path / "signatures.npy").exists()
