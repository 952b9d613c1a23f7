#!/usr/bin/env python3
"""`cognate spark dedup`, `pairs` and `related` on two workers next to `cognate`: time, stages, and whether results are
equal.

usage: bench/spark/spark_scale.py [--documents N,...] [--file FILE.jsonl] [--jobs dedup,pairs,related] [--kill SECONDS]
                                  [--memory SIZE]

Run it with the Python of the tests on Spark, which python/tests/spark/run makes: build/python/spark/bin/python. The rival is
build/cognate. Without a file, documents are real ones with planted copies (bench/dedup/dedup_data.py). There is a standalone
master with two workers of one core; executors have only the archive. With --kill S an executor of the first worker is killed
S seconds after the start of each job, and Spark starts another. Sets are joined by many tasks if they have more than
25 million members, from about 40,000 such documents on. The job `related` joins N queries of a generated log
(build/bench/query_log) by hash tables as Distributed LSH has them: keys of 16 bits, 10 tables, Distance Flip. Ends with status 1
if any output differs: kept documents, clusters, removed documents, pairs; related queries may differ by 0.000002 in their
similarities, whose last digit depends on the order of a sum.
"""
import argparse
import filecmp
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import cognate.spark

RELATED = ["--threshold", "0.7", "--method", "lsh", "--key-bits", "16", "--tables", "10", "--flips", "2", "--flip-mode",
           "distance"]
WORKERS = 2  # of one core
ROOT = pathlib.Path(__file__).resolve().parents[2]
for part in ("python/tests/spark", "bench/dedup"):
    sys.path.insert(0, str(ROOT / part))
from cluster import Cluster  # noqa: E402


def make_documents(job, arguments, count, folder):
    """A file of `count` documents, or of the clicks of `count` queries."""
    target = folder / f"documents-{count}.jsonl"
    if job == "related":
        target = folder / f"log-{count}.tsv"
        with open(target, "wb") as file:
            subprocess.run([ROOT / "build/bench/query_log", str(count)], stdout=file, check=True)
        return target
    if arguments.file:
        with open(arguments.file, "rb") as source, open(target, "wb") as file:
            file.writelines(line for line, _ in zip(source, range(count), strict=False))
        return target
    from dedup_data import DATA, ENGLISH, PLANTER, plant, unpack
    if not DATA.is_dir() or not PLANTER.exists():
        sys.exit(f"{DATA}, {PLANTER}: no documents, or no generator of copies; give a file of documents with --file")
    unpack(folder / "base.jsonl", *(DATA / name for name in ENGLISH))
    plant(folder / "base.jsonl", target, folder / "planted.tsv", count)
    return target


def options_of(job, folder, name):
    """What a job writes: options, and the files."""
    if job in ("pairs", "related"):
        options = ["--measure", "jaccard", "--threshold", "0.8"] if job == "pairs" else RELATED
        return options, {"pairs": folder / f"{name}-{job}.tsv"}
    files = {kind: folder / f"{name}-{kind}.tsv" for kind in ("clusters", "removed")}
    return [part for kind, path in files.items() for part in (f"--{kind}", str(path))], files


def on_one_machine(job, documents, folder):
    options, files = options_of(job, folder, "one")
    start = time.monotonic()
    if job != "dedup":
        with open(files["pairs"], "wb") as out:
            done = subprocess.run([ROOT / "build/cognate", job, documents, *options, "--quiet"], stdout=out)
    else:
        files["kept"] = folder / "one-kept.jsonl"
        done = subprocess.run([ROOT / "build/cognate", job, documents, *options, "-o", files["kept"], "--quiet"])
    if done.returncode not in (0, 1):
        sys.exit(f"cognate {job} ended with status {done.returncode}")
    return time.monotonic() - start, files


def is_same(job, path, other):
    """Whether two results are the same."""
    if job != "related":
        return filecmp.cmp(path, other, shallow=False)
    tables = [[line.split("\t") for line in file.read_text().splitlines()[1:]] for file in (path, other)]
    return len(tables[0]) == len(tables[1]) and all(
        x[:2] == y[:2] and x[3:] == y[3:] and abs(float(x[2]) - float(y[2])) < 2.5e-6 for x, y in zip(*tables, strict=True))


def kill_later(cluster, seconds, killed):
    """Kills an executor of the first worker."""
    time.sleep(seconds)
    for pid in cluster.executors(0)[:1]:
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)


def on_spark(job, documents, folder, cluster, archive, arguments):
    options, files = options_of(job, folder, "spark")
    output = folder / "spark-kept" if job == "dedup" else files["pairs"]
    settings = {"spark.executor.memory": arguments.memory, "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false",
                "spark.executor.cores": "1", "spark.cores.max": str(WORKERS), "spark.sql.shuffle.partitions": "16",
                "spark.driver.memory": "2g", "spark.local.dir": str(folder / "driver-scratch")}
    command = [sys.executable, "-m", "cognate._program", "spark", job, documents, *options, "-o", output, "--work",
               folder / f"work-{job}", "--stats", folder / "stats.json", "--archive", archive, "--master", cluster.url,
               *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")), "--quiet"]
    killed = []
    if arguments.kill:
        threading.Thread(target=kill_later, args=(cluster, arguments.kill, killed), daemon=True).start()
    start = time.monotonic()
    done = subprocess.run(command, env={name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")})
    seconds = time.monotonic() - start
    if done.returncode not in (0, 1):
        sys.exit(f"cognate spark {job} ended with status {done.returncode}")
    if job == "dedup":
        files["kept"] = folder / "spark-kept.jsonl"
        with open(files["kept"], "wb") as whole:
            for part in sorted(output.glob("part-*")):
                whole.write(part.read_bytes())
    return seconds, files, json.loads((folder / "stats.json").read_text()), len(killed)


def run(job, documents, folder, cluster, archive, arguments):
    """Prints what a job took; returns whether all files are the same."""
    seconds, expected = on_one_machine(job, documents, folder)
    taken, found, stats, killed = on_spark(job, documents, folder, cluster, archive, arguments)
    same = {kind: is_same(job, expected[kind], found[kind]) for kind in expected}
    print(f"\n{job} of {stats.get('documents', stats.get('queries'))} documents: {taken:.1f} s on Spark with {killed} executors killed, of them "
          f"{stats['seconds']:.1f} s in stages, {stats['shuffled_bytes'] / 1e6:.1f} MB shuffled; {seconds:.1f} s on one "
          f"machine; candidates {stats['candidates']}, pairs {stats.get('pairs', stats.get('matches'))}, comparisons "
          f"{stats.get('comparisons', '-')} (planned {stats.get('expected_comparisons', '-')}); the same answer: {same}\n\n"
          "| stage | seconds | rows | MB shuffled |\n|---|---|---|---|")
    for stage in stats["stages"]:
        print(f"| {stage['stage']} | {stage['seconds']:.1f} | {stage['rows']} | {stage['shuffled_bytes'] / 1e6:.1f} |")
    if job == "dedup" and not killed:
        count = stats["documents"]
        print(f"\nfor bench/spark/spark_estimate.py: --document-us {WORKERS * stats['seconds'] / count * 1e6:.0f} "
              f"--document-bytes {stats['shuffled_bytes'] / count:.0f}")
    sys.stdout.flush()
    return all(same.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="100000", help="sizes (default: %(default)s)")
    parser.add_argument("--file", help="JSON lines with the field text")
    parser.add_argument("--jobs", default="dedup,pairs", help="default: %(default)s")
    parser.add_argument("--kill", type=float, default=0, metavar="SECONDS", help="kill an executor this many seconds after the start")
    parser.add_argument("--memory", default="2g", help="of an executor's JVM (default: %(default)s)")
    arguments = parser.parse_args()
    print("$", *sys.argv, flush=True)
    all_same = True
    for count in map(int, arguments.documents.split(",")):
        with tempfile.TemporaryDirectory(prefix="spark-scale-") as name:
            folder = pathlib.Path(name)
            archive = cognate.spark.archive(str(folder / "env.tar.gz"))
            with Cluster(folder / "cluster", workers=WORKERS, memory="4g") as cluster:
                for job in arguments.jobs.split(","):
                    documents = make_documents(job, arguments, count, folder)
                    all_same &= run(job, documents, folder, cluster, archive, arguments)
    sys.exit(0 if all_same else 1)


if __name__ == "__main__":
    main()
