#!/usr/bin/env python3
"""Sliding windows on Spark: chunk generation and detection apart, for several numbers of tables Q and windows B.

usage: bench/spark/spark_windows.py [--rows N] [--workers W] [--tables Q,Q,...] [--windows B,B,...] [--results FILE]
       bench/spark/spark_windows.py --fit --results FILE

Starts a standalone master and W workers of one core each on this machine, each pinned to a core with all its processes.
Two collections of N generated signatures of 1024 bits are joined. The chunks of a Q are generated once, and every B
detects in them. Prints the seconds of both phases, comparisons and bytes shuffled beside what `cognate.spark.plan`
predicts, and how straight the lines in Q and B are: R2 of chunk generation over Q, of detection over Q for each B and over
B for each Q, if there are three points, and of one plane of detection over Q and Q B, whose constants are those of a core.
With --results the rows are added to a file, so that several runs make one figure; --fit prints the lines of that file alone.
Disk: about 300 bytes per row and table. For Q up to 300 in runs of less than ten minutes each on an idle machine:

       --rows 100000 --tables 20 --windows 500,1000,2000,4000 --results FILE
       --rows 100000 --tables 50,100 --windows 1000 --results FILE
       --rows 100000 --tables 300 --windows 1000 --results FILE
       --fit --results FILE

Run it with the Python of python/tests/spark/run, which has pyspark and the package.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/tests/spark"))

import cognate.spark  # noqa: E402
from cluster import Cluster, session  # noqa: E402
from cognate.spark import Stages  # noqa: E402
from cognate.spark._arrow import batch_of, map_batches, numbers  # noqa: E402
from cognate.spark._rows import signature_column  # noqa: E402
from cognate.spark import plan  # noqa: E402
from cognate.spark._tables import BLOCK_ROWS  # noqa: E402
from cognate.spark.signatures import SIGNED, Settings, find_candidates  # noqa: E402

BITS = 1024
COLUMNS = ("rows", "workers", "tables", "window", "chunks_s", "detection_s", "comparisons", "of_plan", "bytes",
           "bytes_of_plan")


def draw_signatures(rows, side):
    """Families of ten rows, the same on both sides, of which a tenth of the bits differs."""
    row = numbers(rows, "id")
    signatures = np.empty((len(row), BITS // 8), np.uint8)
    for i, number in enumerate(row):
        bits = np.random.default_rng(int(number) // 10).integers(0, 2, BITS, np.uint8)
        bits ^= np.random.default_rng([int(number), side]).random(BITS) < 0.1
        signatures[i] = np.packbits(bits)
    margins = signature_column(np.zeros((len(row), 0), np.uint8))
    return batch_of(side=np.full(len(row), side, np.int32), row=row,
                    signature=signature_column(signatures), margins=margins)


def sign(stages, rows):
    """The signatures of two collections."""
    frames = [map_batches(stages.spark.range(rows), draw_signatures, SIGNED, side) for side in (0, 1)]
    return stages.table("signatures", lambda: frames[0].union(frames[1]), rows=rows)


def join(stages, signed, rows, method, knobs, workers):
    """The report of a join of signatures, and its plan."""
    chosen = plan(rows, rows, method=method, knobs=knobs, executors=workers)
    partitions = 2 * workers if method == "window" else chosen.partitions  # windows: parts of a table
    find_candidates(stages, signed, 2 * rows, Settings(chosen.join, BITS, 0, {}, True), partitions=partitions,
                    block_rows=BLOCK_ROWS)
    return stages.finish(), chosen


def measure(stages, signed, rows, tables, windows, workers):
    """A row of the results for each window."""
    work, found, chunks = f"{stages.work}/joins", [], None
    for window in windows:
        own = Stages(stages.spark, work)
        report, expected = join(own, signed, rows, "window", {"tables": tables, "window": window}, workers)
        parts = {stage["stage"]: stage for stage in report["stages"]}
        chunks = chunks or parts["chunks"]
        detection = parts["detection"]["seconds"] + parts["seams"]["seconds"]
        found.append((rows, workers, tables, window, chunks["seconds"], round(detection, 2), report["comparisons"],
                      round(report["comparisons"] / expected.comparisons, 4), chunks["shuffled_bytes"],
                      round(chunks["shuffled_bytes"] / expected.shuffled_bytes, 4)))
    shutil.rmtree(work)
    return found


def plane(columns, y):
    """The coefficients of a plane with a constant, and its R2."""
    x = np.column_stack([np.ones(len(y)), *columns])
    found = np.linalg.lstsq(x, y, rcond=None)[0]
    left, spread = y - x @ found, y - y.mean()
    return found, 1 - (left @ left) / (spread @ spread)


def fit(found):
    """Prints how straight the lines are, and what their constants are."""
    for row in (COLUMNS, *found):
        show(row)
    data = np.array(found, float)
    rows, workers, q, b, chunks, detection, comparisons = data.T[:7]
    print("\n| line | points | R2 |\n|---|---|---|")
    emitted = 2 * rows * q  # rows under each order
    first = np.unique(q, return_index=True)[1]
    constants = []
    if len(first) > 2:
        line, share = plane([emitted[first]], chunks[first])
        constants.append(line[1])
        print(f"| chunk generation over Q | {len(first)} | {share:.4f} |")
    for window in np.unique(b):
        own = b == window
        if len(np.unique(q[own])) > 2:
            print(f"| detection over Q, B = {window:.0f} | {own.sum()} | {plane([q[own]], detection[own])[1]:.4f} |")
    for tables in np.unique(q):
        own = q == tables
        if len(np.unique(b[own])) > 2:
            print(f"| detection over B, Q = {tables:.0f} | {own.sum()} | {plane([b[own]], detection[own])[1]:.4f} |")
    if len(np.unique(q)) > 1 and len(np.unique(b)) > 1 and len(q) > 3:
        line, share = plane([emitted, comparisons], detection)
        constants += [line[1], line[2]]
        print(f"| detection over Q and Q B | {len(q)} | {share:.4f} |")
    if len(constants) == 3 and len(np.unique(workers)) == 1:
        generated, read, compared = (constant * workers[0] for constant in constants)
        print(f"\nof one core: a row under one order takes {generated * 1e6:.2f} us in chunk generation and {read * 1e6:.2f} us in "
              f"detection, a comparison {compared * 1e9:.3f} ns")
        if min(constants) > 0:
            print(f"for bench/spark/spark_estimate.py: --row-us {(generated + read) * 1e6:.2f} --comparison-ns "
                  f"{compared * 1e9:.3f}")
        else:
            print("a constant below 0: the runs are too small or the machine was busy")


def show(row):
    values = (f"{value:.10g}" if isinstance(value, float) else value for value in row)
    print("  ".join(f"{value:>{max(len(name), 11)}}" for name, value in zip(COLUMNS, values, strict=True)), flush=True)


def read_results(path):
    if not path or not os.path.exists(path):
        return []
    return [tuple(map(float, line.split("\t"))) for line in pathlib.Path(path).read_text().splitlines()[1:]]


def add_results(path, found):
    is_new = not os.path.exists(path)
    with open(path, "a", encoding="utf-8") as file:
        file.writelines("\t".join(map(str, row)) + "\n" for row in [*([COLUMNS] if is_new else []), *found])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tables", default="10,20,40")
    parser.add_argument("--windows", default="200,1000,2000")
    parser.add_argument("--results", metavar="FILE", help="rows are added to it")
    parser.add_argument("--fit", action="store_true", help="the lines of the results alone")
    arguments = parser.parse_args()
    print("$", *sys.argv)
    if not arguments.fit:
        run(arguments)
    if arguments.results:
        fit(read_results(arguments.results))


def run(arguments):
    with tempfile.TemporaryDirectory(prefix="spark-windows-") as folder:
        archive = cognate.spark.archive(f"{folder}/env.tar.gz")
        with Cluster(f"{folder}/cluster", workers=arguments.workers, pin=True, memory="2g") as cluster:
            spark = session(cluster.url, archive, folder, **{"spark.executor.memory": "1500m",
                                                             "spark.ui.showConsoleProgress": "false"})
            stages = Stages(spark, f"{folder}/work")
            signed = sign(stages, arguments.rows)
            show(COLUMNS)
            windows = [int(window) for window in arguments.windows.split(",")]
            measure(stages, signed, arguments.rows, 2, windows[:1], arguments.workers)  # workers start
            found = []
            for tables in map(int, arguments.tables.split(",")):
                found += measure(stages, signed, arguments.rows, tables, windows, arguments.workers)
                for row in found[-len(windows):]:
                    show(row)
            if arguments.results:
                add_results(arguments.results, found)
            else:
                fit(found)
            spark.stop()


if __name__ == "__main__":
    from pyspark import cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    main()
