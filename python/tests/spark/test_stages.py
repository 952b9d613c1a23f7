"""Stages, the archive, and the cluster that the other tests use."""
import argparse
import json
import os
import subprocess
import sys
import tarfile

import numpy as np
import pytest
from pyspark import cloudpickle

import cognate
from cognate import batch
from cognate.spark import Stages
from cognate.spark._arrow import batch_of, lists, map_batches, map_partitions, numbers, runs
from cognate.spark._program import write_stats

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the executors do not have this file
TEXTS = ["storms closed the mountain road on monday", "the library opens at nine", "a third text of a few words"]


def test_executors_have_only_the_archive(spark, cluster, empty_python):
    done = subprocess.run([empty_python / "python3", "-c", "import numpy"], capture_output=True)
    assert done.returncode != 0
    where = spark.range(0, 40, 1, 4).mapInArrow(_where, "process long, package string, host string").collect()
    assert all("/environment/packages/cognate" in row.package for row in where)
    assert {str(cluster.folder / f"worker-{i}") in row.package for i in (0, 1) for row in where} == {True, False}


def _where(batches):
    import os
    for _ in batches:
        yield batch_of(process=[os.getpid()], package=[cognate.__file__], host=[os.uname().nodename])


def _sets(piece):
    table = batch.term_sets(piece, text="text", threads=1).to_arrow()
    return table.select(["row", "terms"]).append_column("id", piece.column("id").take(table["row"])).drop(["row"])


def test_term_sets_in_executors(spark):
    frame = spark.createDataFrame([(i, text) for i, text in enumerate(TEXTS)], "id long, text string").repartition(2)
    rows = map_batches(frame, _sets, "terms array<long>, id long").collect()
    expected = batch.term_sets(TEXTS)["terms"]
    assert {row.id: row.terms for row in rows} == {i: terms.tolist() for i, terms in enumerate(expected)}


def test_stages_are_taken_up_again(spark, tmp_path):
    made = []

    def make():
        made.append(1)
        return spark.range(0, 1000, 1, 4).selectExpr("id", "id % 7 as key").repartition(3, "key")

    first = Stages(spark, str(tmp_path / "work"))
    stage = first.table("numbers", make, key=7)
    assert stage.rows == 1000 and stage.table.count() == 1000
    report = first.finish()
    assert report["shuffled_bytes"] > 0 and report["stages"][0]["rows"] == 1000
    again = Stages(spark, str(tmp_path / "work"))
    assert again.table("numbers", make, key=7).hash == stage.hash and len(made) == 1
    assert again.finish()["stages"][0]["resumed"]
    assert again.table("numbers", make, key=8).hash != stage.hash and len(made) == 2
    assert again.table("numbers", make, ["other data"], key=8).rows == 1000 and len(made) == 3
    assert Stages(spark, str(tmp_path / "work"), resume=False).table("numbers", make, key=7).rows == 1000
    assert len(made) == 4


def test_a_stage_that_failed_is_made_again(spark, tmp_path):
    def fail():
        return spark.range(0, 100, 1, 4).selectExpr("raise_error('no') as x", "id")

    with pytest.raises(Exception, match="no"):
        Stages(spark, str(tmp_path / "work")).table("numbers", fail)
    assert Stages(spark, str(tmp_path / "work")).table("numbers", lambda: spark.range(5)).rows == 5


def test_a_stage_that_failed_anew_is_made_again(spark, tmp_path):
    """A job that makes all tables anew overwrites what an earlier one has made, and stops."""
    def fail():
        return spark.range(0, 100, 1, 4).selectExpr("if(id > 50, raise_error('no'), id) as id")

    work = str(tmp_path / "work")
    assert Stages(spark, work).table("numbers", lambda: spark.range(100)).rows == 100
    with pytest.raises(Exception, match="no"):
        Stages(spark, work, resume=False).table("numbers", fail)
    stage = Stages(spark, work).table("numbers", lambda: spark.range(100))
    assert stage.rows == stage.table.count() == 100 and not stage.facts["resumed"]


def _run_sizes(batches):
    for table in runs(batches, ["key"], rows=100):
        keys, counts = np.unique(numbers(table, "key"), return_counts=True)
        yield batch_of(key=keys, count=counts)


def test_runs_are_whole(spark):
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
    try:
        frame = spark.range(0, 5000, 1, 4).selectExpr("cast(sqrt(id) as long) as key")
        sorted_frame = frame.repartition(3, "key").sortWithinPartitions("key")
        rows = map_partitions(sorted_frame, _run_sizes, "key long, count long").collect()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert sorted(map(tuple, rows)) == [(k, min(2 * k + 1, 5000 - k * k)) for k in range(71)]


def test_lists_of_a_slice():
    import pyarrow as pa
    table = pa.table({"terms": [[1, 2], [], [3], [4, 5]]}).slice(1, 3)
    offsets, items = lists(table, "terms")
    assert [items[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)] == [[], [3], [4, 5]]


def test_archive_is_the_same_every_time(archive, tmp_path):
    other = cognate.spark.archive(str(tmp_path / "again.tar.gz"))
    assert open(other, "rb").read() == open(archive, "rb").read()
    with tarfile.open(other) as tar:
        names = tar.getnames()
    assert "bin/python" in names and "packages/cognate/__init__.py" in names
    program = [sys.executable, "-m", "cognate._program", "spark", "archive", "-o", "third.tar.gz"]
    assert "MB" in subprocess.run(program, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert (tmp_path / "third.tar.gz").read_bytes() == open(archive, "rb").read()
    with pytest.raises(ModuleNotFoundError, match="pip install"):
        cognate.spark.archive(str(tmp_path / "x.tar.gz"), ["no-such-package"])
    assert not (tmp_path / "x.tar.gz").exists()


def test_stats_through_a_link(tmp_path):
    """What a link leads to is written, and the link stays, as /dev/stdout does; any other file is replaced when whole."""
    there, link, plain = (tmp_path / name for name in ("there.json", "link.json", "plain.json"))
    link.symlink_to(there)
    plain.write_text("old and longer than what is written now, so that a rest of it would show")
    for path, target in ((link, there), (link, there), (plain, plain)):
        inode = target.stat().st_ino if target.exists() else None
        write_stats(argparse.Namespace(stats=str(path)), {"kept": 3})
        assert json.loads(target.read_text()) == {"kept": 3}
        assert inode is None or (target.stat().st_ino == inode) == (path is link)
    assert link.is_symlink() and sorted(os.listdir(tmp_path)) == ["link.json", "plain.json", "there.json"]
    read, write = os.pipe()
    write_stats(argparse.Namespace(stats=f"/dev/fd/{write}"), {"kept": 4})
    os.close(write)
    with open(read, encoding="utf-8") as file:
        assert json.load(file) == {"kept": 4}
