#!/usr/bin/env python3
"""Sliding windows on Spark: chunk generation and detection apart, for several numbers of tables Q and windows B.

usage: bench/spark/spark_windows.py [--rows N] [--workers W] [--tables Q,Q,...] [--windows B,B,...]

Starts a standalone master and W workers of one core each on this machine, each pinned to a core. Two collections of N
generated signatures of 1024 bits are joined. Prints the seconds of both phases, comparisons and bytes shuffled beside what
`cognate.spark.plan` predicts, and how linear the seconds are in Q and in Q times B. Run it with the Python of
python/tests/spark/run, which has pyspark and the package.
"""
import argparse
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests/spark"))

import cognate.spark  # noqa: E402
from cluster import Cluster, session  # noqa: E402
from cognate import batch  # noqa: E402
from cognate.spark import Stages  # noqa: E402
from cognate.spark._arrow import batch_of, map_batches, numbers  # noqa: E402
from cognate.spark._rows import signature_column  # noqa: E402
from cognate.spark import plan  # noqa: E402
from cognate.spark.signatures import SIGNED, Settings, find_candidates  # noqa: E402

BITS = 1024


def draw_signatures(rows, side):
    """Families of ten rows, the same on both sides, of which a tenth of the bits differs."""
    row = numbers(rows, "id")
    signatures = np.empty((len(row), BITS // 8), np.uint8)
    for i, number in enumerate(row):
        bits = np.random.default_rng(int(number) // 10).integers(0, 2, BITS, np.uint8)
        bits ^= np.random.default_rng([int(number), side]).random(BITS) < 0.1
        signatures[i] = np.packbits(bits)
    empty = signature_column(np.zeros((len(row), 0), np.uint8))
    return batch_of(side=np.full(len(row), side, np.int32), row=row, terms=np.full(len(row), 9, np.int32),
                    signature=signature_column(signatures), margins=empty)


def measure(stages, signed, rows, tables, window, workers):
    knobs = {"tables": tables, "window": window}
    join = batch.plan_join(rows, rows, method="window", threshold=0.8, knobs=knobs)
    expected = plan(rows, rows, knobs=knobs, executors=workers)
    own = Stages(stages.spark, stages.work, resume=False)
    find_candidates(own, signed, 2 * rows, Settings(join, BITS, 0, {}, True), partitions=2 * workers, block_rows=1)
    report = own.finish()
    seconds = {stage["stage"]: stage["seconds"] for stage in report["stages"]}
    shuffled = {stage["stage"]: stage["shuffled_bytes"] for stage in report["stages"]}
    detection = seconds["detection"] + seconds["seams"]
    print(f"{tables:7d} {window:7d} {seconds['chunks']:10.1f} {detection:10.1f} {report['comparisons']:14d} "
          f"{report['comparisons'] / expected.comparisons:8.3f} {shuffled['chunks'] / 1e6:10.1f} "
          f"{shuffled['chunks'] / expected.shuffled_bytes:8.3f}", flush=True)
    return tables, window, seconds["chunks"], detection


def linear(x, y):
    """R2 of a straight line."""
    return np.corrcoef(x, y)[0, 1] ** 2 if len(set(x)) > 2 else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tables", default="10,20,40")
    parser.add_argument("--windows", default="200,1000,2000")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spark-windows-") as folder:
        archive = cognate.spark.archive(f"{folder}/env.tar.gz")
        with Cluster(f"{folder}/cluster", workers=arguments.workers, pin=True) as cluster:
            spark = session(cluster.url, archive, folder)
            stages = Stages(spark, f"{folder}/work")
            frames = [map_batches(spark.range(arguments.rows), draw_signatures, SIGNED, side) for side in (0, 1)]
            signed = stages.table("signatures", lambda: frames[0].union(frames[1]), rows=arguments.rows)
            print("      Q       B   chunks s  detect. s    comparisons  of plan  MB shuffled  of plan")
            measure(stages, signed, arguments.rows, 2, 100, arguments.workers)  # workers start
            found = [measure(stages, signed, arguments.rows, tables, window, arguments.workers)
                     for tables in map(int, arguments.tables.split(","))
                     for window in map(int, arguments.windows.split(","))]
            q, b, chunks, detection = map(np.array, zip(*found, strict=True))
            print(f"linear: chunk generation in Q R2 {linear(q, chunks):.3f}, detection in Q B R2 "
                  f"{linear(q * b, detection):.3f}")
            spark.stop()


if __name__ == "__main__":
    from pyspark import cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    main()
