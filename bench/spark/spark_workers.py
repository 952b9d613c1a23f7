#!/usr/bin/env python3
"""One worker against two, each pinned to one core with all its processes: the seconds of each stage, and the speed-up.

usage: bench/spark/spark_workers.py [--documents N] [--rows N] [--workers 1,2]

Jobs: `clusters` of N generated documents by many tasks, and joins of two collections of generated signatures of 1024 bits
by windows, hash tables and brute force. Prints a table of stages, and one of jobs: the seconds of stages that compute (all but
those of a single task: ranking, clusters, and counts on the driver), the speed-up, and for the joins comparisons and bytes
shuffled as multiples of what `cognate.spark.plan` predicts. The driver is pinned to no core. Run it with the Python of python/tests/spark/run.
"""
import argparse
import sys
import tempfile

import numpy as np

import cognate.spark
import spark_windows
from cognate.spark import Stages
from spark_documents import write_documents
from spark_skew import plain
from spark_windows import Cluster, join, session, sign

JOINS = {"window": {"tables": 30, "window": 1000}, "lsh": {"tables": 10, "key_bits": 10, "flips": 0, "flip_mode": 3},
         "flat": {}}
#: Stages that one task makes, or that are a second of Spark's own work whatever the size.
ONE_TASK = ("order", "partners", "decision", "seams", "double-ids", "idle")


def run_joins(stages, arguments, workers):
    """Seconds by stage; comparisons and bytes of each method, as multiples of the plan's."""
    seconds, of_plan = {}, {}
    signed = sign(stages, arguments.rows)
    for method, knobs in JOINS.items():
        report, expected = join(Stages(stages.spark, f"{stages.work}/{method}"), signed, arguments.rows, method, knobs,
                                workers)
        main = {"window": "chunks", "lsh": "met", "flat": "met"}[method]
        shuffled = sum(stage["shuffled_bytes"] for stage in report["stages"] if stage["stage"] == main)
        of_plan[method] = (report["comparisons"] / expected.comparisons, shuffled / expected.shuffled_bytes)
        seconds.update({f"{method}: {stage['stage']}": stage["seconds"] for stage in report["stages"]})
    return seconds, of_plan


def run_clusters(spark, path):
    report = {}
    cognate.spark.clusters(spark.read.parquet(path).repartition(16), members_at_once=0, report=report)
    return {f"clusters: {stage['stage']}": stage["seconds"] for stage in report["stages"]}


def measure(arguments, workers, folder, archive, path):
    with Cluster(f"{folder}/cluster-{workers}", workers=workers, pin=True, memory="3g") as cluster:
        spark = session(cluster.url, archive, folder, **{
            "spark.executor.memory": "2g", "spark.driver.memory": "2g", "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "8", "spark.default.parallelism": "8"})
        cognate.spark.clusters(spark.read.parquet(path).limit(2000), members_at_once=0)  # executors start and compile
        found = run_clusters(spark, path)
        joins, of_plan = run_joins(Stages(spark, f"{folder}/work-{workers}"), arguments, workers)
        spark.stop()
    return {**found, **joins}, of_plan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100000)
    parser.add_argument("--rows", type=int, default=50000)
    parser.add_argument("--workers", default="1,2")
    arguments = parser.parse_args()
    print("$", *sys.argv, flush=True)
    counts = [int(count) for count in arguments.workers.split(",")]
    with tempfile.TemporaryDirectory(prefix="spark-workers-") as folder:
        archive, path = cognate.spark.archive(f"{folder}/env.tar.gz"), f"{folder}/documents.parquet"
        write_documents(plain(arguments.documents, np.random.default_rng(7)), path)
        found = {count: measure(arguments, count, folder, archive, path) for count in counts}
    show(counts, *zip(*(found[count] for count in counts), strict=True))


def show(counts, seconds, of_plan):
    heads = " | ".join(f"{count} worker(s), s" for count in counts)
    print(f"\n| stage | {heads} | speed-up |\n|---|{'---|' * (len(counts) + 1)}")
    for stage, first in seconds[0].items():
        print(f"| {stage} | {' | '.join(f'{times[stage]:.1f}' for times in seconds)} | {first / seconds[-1][stage]:.2f} |")
    print(f"\n| job, stages that compute | {heads} | speed-up | comparisons of the plan's | bytes of the plan's |\n|---|"
          f"{'---|' * (len(counts) + 3)}")
    for job in ("clusters", *JOINS):
        computed = [stage for stage in seconds[0] if stage.startswith(job + ":") and stage.split(": ")[1] not in ONE_TASK]
        sums = [sum(times[stage] for stage in computed) for times in seconds]
        plan = [" / ".join(f"{own[job][i]:.3f}" for own in of_plan) if job in JOINS else "-" for i in (0, 1)]
        print(f"| {job} | {' | '.join(f'{total:.1f}' for total in sums)} | {sums[0] / sums[-1]:.2f} | {plan[0]} | {plan[1]} |")


if __name__ == "__main__":
    from pyspark import cloudpickle
    cloudpickle.register_pickle_by_value(spark_windows)
    sys.exit(main())
