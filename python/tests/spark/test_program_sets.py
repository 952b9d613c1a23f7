"""The command `cognate spark`, in processes of its own, writes what `cognate` writes."""
import json
import os
import subprocess
import sys

import pytest

import cognate
from test_dedup import make_texts

pytestmark = pytest.mark.long  # each command starts a session
PROGRAM = os.path.join(os.path.dirname(cognate.__file__), "cognate-program")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files of JSON lines with a bad record, an id that repeats, and records without ids."""
    path = tmp_path_factory.mktemp("program")
    texts = [text for text in make_texts(300) if text]
    lines = [json.dumps({"id": f"d{i}", "text": text} if i % 5 else {"text": text, "n": i}) for i, text in enumerate(texts)]
    lines[7] = "no object"
    lines[20] = json.dumps({"id": "d1", "text": "this id was there before"})
    (path / "one.jsonl").write_text("".join(line + "\n" for line in lines[:200]))
    (path / "two.jsonl").write_text("".join(line + "\n" for line in lines[200:]))
    return path


@pytest.fixture(scope="module")
def program(folder, cluster, archive, spark):
    def call(*arguments, status=0):
        spark_options = ["--master", cluster.url, "--archive", archive, "--conf", "spark.executor.memory=512m", "--conf",
                         "spark.driver.host=127.0.0.1", "--conf", "spark.cores.max=1", "--conf",
                         "spark.sql.shuffle.partitions=3", "--conf", "spark.sql.files.maxPartitionBytes=4000", "--conf",
                         "spark.sql.files.openCostInBytes=1"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
        done = subprocess.run([sys.executable, "-m", "cognate._program", "spark", *arguments, *spark_options], cwd=folder,
                              env=environment, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done
    return call


def one_machine(folder, *arguments):
    subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=folder, check=True)


def test_dedup(program, folder):
    program("dedup", "two.jsonl", "one.jsonl", "-o", "out", "--clusters", "clusters.tsv", "--removed", "removed.tsv",
            "--threshold", "0.7", "--stats", "stats.json")
    one_machine(folder, "dedup", "two.jsonl", "one.jsonl", "-o", "kept.jsonl", "--clusters", "c.tsv", "--removed", "r.tsv",
                "--threshold", "0.7")
    written = b"".join(path.read_bytes() for path in sorted((folder / "out").glob("part-*")))
    assert written == (folder / "kept.jsonl").read_bytes()
    assert (folder / "clusters.tsv").read_bytes() == (folder / "c.tsv").read_bytes()
    assert (folder / "removed.tsv").read_bytes() == (folder / "r.tsv").read_bytes()
    stats = json.loads((folder / "stats.json").read_text())
    assert stats["kept"] == written.count(b"\n") and stats["candidates"] > 0 and stats["shuffled_bytes"] > 0


def test_pairs_of_lines(program, folder):
    texts = [json.loads(line).get("text", "") for line in (folder / "two.jsonl").read_text().splitlines()]
    words = [f"word{i}" for i in range(199)]  # 195 of 199 n-grams: single precision prints another last digit
    texts += [" ".join(words), " ".join([*words[:-2], "other", "more"])]
    (folder / "lines.txt").write_text("".join(text + "\n" for text in texts))
    program("pairs", "lines.txt", "--lines", "-o", "pairs.tsv", "--threshold", "0.6")
    with open(folder / "p.tsv", "wb") as file:
        subprocess.run([PROGRAM, "pairs", "lines.txt", "--lines", "--measure", "jaccard", "--threshold", "0.6", "--quiet"],
                       cwd=folder, check=True, stdout=file)
    assert (folder / "pairs.tsv").read_bytes() == (folder / "p.tsv").read_bytes()


def test_parquet(program, folder, spark):
    import pyarrow as pa
    import pyarrow.parquet as pq
    texts = make_texts(100)
    table = pa.table({"body": texts, "stars": range(len(texts))})
    pq.write_table(table, folder / "in.parquet", row_group_size=20)
    program("dedup", "in.parquet", "--text-field", "body", "-o", "clean", "--threshold", "0.7")
    kept = pa.concat_tables(pq.read_table(path) for path in sorted((folder / "clean").glob("part-*")))
    assert kept.equals(table.take(cognate.dedup(texts, threshold=0.7).kept).cast(kept.schema))


def test_wrong_usage(folder):
    def fails(*arguments):
        done = subprocess.run([sys.executable, "-m", "cognate._program", "spark", *arguments], cwd=folder,
                              capture_output=True, text=True)
        assert done.returncode == 2
        return done.stderr
    assert "say what to write" in fails("dedup", "one.jsonl")
    assert "NAME=VALUE" in fails("pairs", "one.jsonl", "--conf", "x")
