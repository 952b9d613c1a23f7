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


@pytest.fixture
def two_files(texts, tmp_path):
    """900 rows with 300 near-duplicates, and the first 100 of them as a collection of their own."""
    table = pa.table({"body": texts, "meta": [{"key": f"k{i}"} for i in range(900)], "stars": range(900)})
    pq.write_table(table, tmp_path / "in.parquet")
    pq.write_table(table.slice(0, 100), tmp_path / "part.parquet")
    return table


def test_parquet_reference(program, two_files, tmp_path):
    expected = cognate.dedup(two_files, against=two_files.slice(0, 100), text="body").kept
    for arguments in (["in.parquet", "-oout.parquet", "--against", "part.parquet"],
                      ["--against=part.parquet", "--output=out.parquet", "in.parquet"]):
        program("dedup", *arguments, "--text-field", "body")
        assert pq.read_table(tmp_path / "out.parquet").equals(two_files.take(expected))
    (tmp_path / "part.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in two_files["body"].to_pylist()))
    assert " 0 kept" in program("dedup", "in.parquet", "--dry-run", "--against", "part.jsonl", "--text-field", "body")
    assert " 100 documents, 0 kept" in program("dedup", "part.jsonl", "--dry-run", "--against", "in.parquet",
                                               "--text-field", "body").replace("900", "100")


def test_parquet_results(program, two_files, tmp_path):
    fields = ["--text-field", "body", "--id-field", "meta.key"]
    said = program("dedup", "in.parquet", "-o", "out.parquet", "--removed", "-", "--keep", "field:stars", *fields)
    removed = [line.split("\t") for line in said.splitlines() if line.startswith("k")]
    assert removed and all(int(line[0][1:]) < int(line[1][1:]) for line in removed)
    program("dedup", "in.parquet", "part.parquet", "-o", "kept/", "--keep", "first", *fields)
    assert sorted(os.listdir(tmp_path / "kept")) == ["in.parquet", "part.parquet"]
    kept = [len(pq.read_table(tmp_path / "kept" / name)) for name in ("in.parquet", "part.parquet")]
    assert kept == [len(cognate.dedup(two_files, text="body", keep="first").kept), 0]


def test_parquet_refused(program, two_files, tmp_path):
    before = (tmp_path / "in.parquet").read_bytes()
    (tmp_path / "more.jsonl").write_text('{"body": "a text"}\n')
    pq.write_table(two_files.select(["stars", "body", "meta"]), tmp_path / "order.parquet")
    for arguments, reason in ((["-o", "in.parquet"], "overwrite"), (["-o", "x.parquet", "--mark", "m"], "--mark"),
                              (["more.jsonl", "-o", "x.parquet"], "mix"), (["order.parquet", "-o", "x.parquet"], "columns"),
                              (["-o", "x.parquet", "--work", "w"], "--work")):
        said = program("dedup", "in.parquet", *arguments, "--text-field", "body", status=2)
        assert reason in said and len(said.splitlines()) == 1
    assert (tmp_path / "in.parquet").read_bytes() == before and not (tmp_path / "x.parquet").exists()


def test_parquet_rows_without_text_are_named(program, tmp_path):
    pq.write_table(pa.table({"text": ["a text of some words", None, "a text of some words"]}), tmp_path / "in.parquet")
    said = program("dedup", "in.parquet", "-o", "out.parquet")
    assert "skipped: -:2: no field" in said and "1 record was skipped" in said
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == ["a text of some words"]
    assert "strict" in program("dedup", "in.parquet", "-o", "x.parquet", "--strict", status=2)
    assert not (tmp_path / "x.parquet").exists()
