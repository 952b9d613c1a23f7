#!/usr/bin/env python3
"""Skewed collections on a cluster of two workers: what boilerplate costs, and whether the clusters are those of one machine.

usage: bench/spark/spark_skew.py [--documents N,N,...] [--family N,N,...] [--key N,N,...] [--steps]

Run it with the Python of the tests on Spark, which python/tests/spark/run makes: build/python/spark/bin/python. Texts are
made of random words. All jobs take the path of many tasks, which large collections take; session start is not counted.

    plain         documents of 120 words, a twentieth of them near copies of others
    boilerplate   the same, and 30% share a passage of 40 of their 120 words
    mostly        the same, and 30% share a passage of 104 of their 120 words: every two have a Jaccard coefficient of 0.76,
                  and the passage is among the keys of all
    key           documents of 24 words, 20 of them shared, and a hundredth of 22: one key that all documents have
    family        near-duplicates of one document of 100 words, one word replaced in each, and a tenth as many others

The seconds of a boilerplate case are given as a multiple of those of `plain`. CPU seconds are those of the executors and
their Python. With --steps there is no cluster: the steps that executors run are run here, one after the other, and their
CPU seconds are printed, with the rows of keys, those of the most frequent key, the pairs of rows that share a key, and the
pairs that are compared. A case whose clusters are not those of cognate.dedup on one machine ends the program with status 1.
"""
import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np
import pyarrow

import cognate
import cognate.spark
from cognate import batch
from cognate.spark import _sets
from cognate.spark._arrow import numbers, packed

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/tests/spark"))
from cluster import Cluster, session  # noqa: E402
from spark_documents import write_documents  # noqa: E402

THRESHOLD, VOCABULARY = 0.8, 200_000


# ---- Collections -----------------------------------------------------------------------------------------------------

def words_of(rng, rows, words):
    return rng.integers(0, VOCABULARY, (rows, words))


def texts_of(rows):
    return [" ".join(f"w{word}" for word in row) for row in rows.tolist()]


def plain(count, rng, shared=0):
    rows = words_of(rng, count, 120)
    if shared:
        has_passage = rng.random(count) < 0.3
        rows[has_passage, :shared] = words_of(rng, 1, shared)
    copies, origins = rng.choice(count, count // 20, replace=False), rng.integers(0, count, count // 20)
    rows[copies] = rows[origins]
    rows[copies, rng.integers(shared, 120, len(copies))] = words_of(rng, 1, len(copies))
    return texts_of(rows)


def boilerplate(count, rng):
    return plain(count, rng, 40)


def mostly(count, rng):
    return plain(count, rng, 104)


def one_key(count, rng):
    rows = words_of(rng, count, 24)
    rows[:, :20] = words_of(rng, 1, 20)
    texts = texts_of(rows)
    for i in range(0, count, 100):
        texts[i] = texts[i].rsplit(" ", 2)[0]
    return texts


def family(count, rng):
    rows = np.repeat(words_of(rng, 1, 100), count, 0)
    rows[np.arange(count), rng.integers(0, 100, count)] = words_of(rng, 1, count)
    texts = texts_of(rows) + texts_of(words_of(rng, count // 10, 100))
    return [texts[i] for i in rng.permutation(len(texts))]


CASES = {"plain": plain, "boilerplate": boilerplate, "mostly": mostly, "key": one_key, "family": family}


# ---- Runs ------------------------------------------------------------------------------------------------------------

def cpu_seconds(processes):
    """Of processes and of all that they started."""
    ticks, parents, own = 0, {}, {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
        own[int(path.parent.name)] = sum(map(int, fields[11:15]))
    for pid in parents:
        above = pid
        while above in parents and above not in processes:
            above = parents[above]
        ticks += own[pid] if above in processes else 0
    return ticks / 100


def clusters_of(table):
    order = np.argsort(table["id"].to_numpy())
    return [table[name].to_numpy(zero_copy_only=False)[order]
            for name in ("id", "representative", "similarity", "kept", "cluster")]


def expected_clusters(texts):
    table = cognate.dedup(texts, threshold=THRESHOLD, threads=1).clusters
    order = np.argsort(table["row"])
    return [np.asarray(table[name])[order] for name in ("row", "representative", "similarity", "kept", "cluster")]


def are_equal(found, expected):
    return len(found[0]) == len(expected[0]) and all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def run(spark, cluster, name, count, folder):
    """Seconds, and whether the clusters are right."""
    texts = CASES[name](count, np.random.default_rng(7))
    path = f"{folder}/{name}-{count}.parquet"
    write_documents(texts, path)
    frame, report = spark.read.parquet(path), {}
    workers = {process.pid for process in cluster.workers}
    start, cpu = time.monotonic(), cpu_seconds(workers)
    table = cognate.spark.clusters(frame, threshold=THRESHOLD, members_at_once=0, report=report).toArrow()
    seconds, cpu = time.monotonic() - start, cpu_seconds(workers) - cpu
    is_right = are_equal(clusters_of(table), expected_clusters(texts))
    print(f"| {name} | {len(texts)} | {seconds:.1f} | {cpu:.1f} | {report['pairs_sharing_keys']} | {report['idle_rows']} | "
          f"{report['candidates']} | {report['pairs']} | {report['rounds']} | {report['shuffled_bytes'] / 1e6:.1f} | "
          f"{'yes' if is_right else 'NO'} |", flush=True)
    return seconds, cpu, is_right


def term_sets(texts):
    table = batch.term_sets(texts, threads=1).to_arrow()
    return pyarrow.table({"doc": table["row"], "terms": packed(table["terms"]), "words": packed(table["words"])})


def count_members(sets):
    lists = [_sets.lists(sets, name) for name in ("terms", "words")]
    counts = batch.MemberCounts(max(12, 2 * sum(len(items) for _, items in lists)).bit_length(), _sets.FREQUENT_BITS)
    for own in lists:
        counts.add(own)
    return counts


def set_keys(sets, counts):
    keys = _sets._set_keys(sets, counts, THRESHOLD, "jaccard", 0)
    return keys.append_column("rank", keys["doc"]).sort_by([("key", "ascending"), ("size", "ascending")]).combine_chunks()


def walk(keys):
    found = _sets._find_candidates(iter(keys.to_batches(max_chunksize=10_000)), THRESHOLD, "jaccard", False)
    return sum(part.num_rows for part in found)


def run_steps(name, count):
    """The steps of executors in this process."""
    texts = CASES[name](count, np.random.default_rng(7))
    seconds = [time.process_time()]

    def timed(result):
        seconds.append(time.process_time())
        return result
    sets = timed(term_sets(texts))
    counts = timed(count_members(sets))
    keys = timed(set_keys(sets, counts))
    rows = np.unique(numbers(keys, "key"), return_counts=True)[1]
    compared = _sets.pairs_of_rows(*(numbers(keys, column) for column in ("key", "place", "size", "flags")),
                                   threshold=THRESHOLD, measure="jaccard").sum()
    seconds.append(time.process_time())
    found = timed(walk(keys)) if name != "family" else "-"  # a cluster takes a family in blocks instead
    taken = [*np.diff(seconds)[:3], seconds[-1] - seconds[4] if name != "family" else 0]
    print(f"| {name} | {len(texts)} | {' | '.join(f'{part:.2f}' for part in taken)} | {keys.num_rows} | {rows.max()} | "
          f"{(rows * (rows - 1) // 2).sum()} | {compared} | {found} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="25000,100000", help="of plain, boilerplate, mostly (default: %(default)s)")
    parser.add_argument("--key", default="50000,200000", help="sizes of key (default: %(default)s)")
    parser.add_argument("--family", default="25000,100000", help="sizes of family (default: %(default)s)")
    parser.add_argument("--steps", action="store_true", help="no cluster: the steps of executors alone")
    arguments = parser.parse_args()
    sizes = {"key": arguments.key, "family": arguments.family}
    jobs = [(name, int(count)) for name in CASES for count in sizes.get(name, arguments.documents).split(",") if count]
    if arguments.steps:
        print("| case | documents | sets | counts | keys | walk | rows of keys | of the most frequent | pairs that share a "
              "key | compared | candidates |\n|---|---|---|---|---|---|---|---|---|---|---|")
        for name, count in jobs:
            run_steps(name, count)
        return
    seconds, all_right = {}, True
    with (tempfile.TemporaryDirectory(prefix="spark-skew-") as folder,
          Cluster(f"{folder}/cluster", memory="3g") as cluster):
        spark = session(cluster.url, cognate.spark.archive(f"{folder}/env.tar.gz"), folder, **{
            "spark.executor.memory": "2g", "spark.driver.memory": "2g", "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "8", "spark.default.parallelism": "8"})
        print("| case | documents | seconds | CPU seconds | pairs to compare | idle rows | candidates | pairs | rounds | MB "
              "shuffled | clusters of one machine |\n|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        run(spark, cluster, "plain", 2000, folder)  # the first job is slow: executors start Python and compile plans
        for name, count in jobs:
            *taken, is_right = run(spark, cluster, name, count, folder)
            seconds[name, count], all_right = taken, all_right and is_right
        spark.stop()
    for name in ("boilerplate", "mostly"):
        for count in (count for other, count in seconds if other == name):
            ratios = [a / b for a, b in zip(seconds[name, count], seconds["plain", count], strict=True)]
            print(f"{count} documents: {name} takes {ratios[0]:.2f} times as long as plain, {ratios[1]:.2f} times the CPU")
    sys.exit(0 if all_right else 1)


if __name__ == "__main__":
    main()
