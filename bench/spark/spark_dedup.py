#!/usr/bin/env python3
"""Near-duplicates on a cluster of two workers: cognate.spark next to Spark ML's MinHashLSH and a job like text-dedup's.

usage: bench/spark/spark_dedup.py [--documents N,N,...] [--seconds S] [--only NAME,NAME,...] [--file DOCUMENTS.jsonl]

Run it with the Python of the tests on Spark, which python/tests/spark/run makes: build/python/spark/bin/python. Without a
file, documents are real ones with planted copies (bench/dedup/dedup_data.py). Each method has a standalone master and two
workers of one core for itself, on the loopback interface, with 2 GB per executor; it takes the sizes in rising order, and no
further one after it has not finished within S seconds. Session start is not counted, nor that of Python in executors.

The truth is every pair with a Jaccard coefficient of word 3-grams of 0.8 or more, by cognate.pairs on one machine. Pairs of
methods that give clusters are those of documents in one cluster. Ends with the ratio of each rival's seconds to those of
cognate.spark, for the same kind of answer, at the largest size that the rival has finished.
"""
import argparse
import hashlib
import json
import pathlib
import re
import sys
import tempfile
import threading
import time

import numpy as np
from pyspark import cloudpickle

import cognate
import cognate.spark
from cognate.spark._metrics import Metrics

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("python/tests/spark", "bench/dedup"):
    sys.path.insert(0, str(ROOT / folder))
from cluster import Cluster, session  # noqa: E402
from spark_documents import write_documents  # noqa: E402

THRESHOLD, PERMUTATIONS = 0.8, 250


# ---- Methods: each returns pairs or (with clusters) pairs of a document and its cluster, and how many it compared -----

def cognate_pairs(spark, frame, **options):
    report = {}
    table = cognate.spark.pairs(frame, threshold=THRESHOLD, report=report, **options)
    return columns_of(table.select("a", "b")), lambda: report["candidates"]


def cognate_clusters(spark, frame, **options):
    report = {}
    table = cognate.spark.clusters(frame, threshold=THRESHOLD, grouping="connected", report=report, **options)
    return columns_of(table.select("id", "cluster")), lambda: report["candidates"]


def cognate_clusters_in_many_tasks(spark, frame):
    return cognate_clusters(spark, frame, members_at_once=0)


def columns_of(table):
    table = table.toArrow()
    return [table[name].to_numpy() for name in table.column_names]


def spark_ml(spark, frame):
    """As Spark's guide has it: binary vectors of hashed 3-grams, five tables, and the join at a Jaccard distance."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as f
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+").transform(frame)
    grams = NGram(n=3, inputCol="words", outputCol="grams").transform(words).filter("size(grams) > 0")
    vectors = HashingTF(inputCol="grams", outputCol="features", numFeatures=1 << 20, binary=True).transform(grams)
    vectors = vectors.select("id", "features").cache()
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=5, seed=1).fit(vectors)
    joined = model.approxSimilarityJoin(vectors, vectors, 1 - THRESHOLD, "distance").filter("datasetA.id < datasetB.id")
    found = columns_of(joined.select(f.col("datasetA.id").alias("a"), f.col("datasetB.id").alias("b")))

    def compared():  # the join meets every two rows with an equal value in a table, in both orders
        values = model.transform(vectors).select(f.posexplode("hashes").alias("table", "value"))
        counted = values.groupBy("table", f.col("value").cast("string")).count()
        return int(counted.selectExpr("sum(count * count)").head()[0])
    return found, compared


def best_bands(threshold, permutations):
    """Bands and rows with the least sum of errors on either side of the threshold, as datasketch and text-dedup choose."""
    below, above = np.linspace(0, threshold, 200), np.linspace(threshold, 1, 200)
    choices = [(bands, rows) for bands in range(1, permutations + 1) for rows in range(1, permutations // bands + 1)]

    def errors(choice):
        bands, rows = choice
        wrong = threshold * (1 - (1 - below ** rows) ** bands).mean()
        missed = (1 - threshold) * ((1 - above ** rows) ** bands).mean()
        return wrong + missed
    return min(choices, key=errors)


def bands_of(row, bands, rows):
    """The bands of a document, as text-dedup makes them: an object for each."""
    prime, most = np.uint64((1 << 61) - 1), np.uint64((1 << 32) - 1)
    draw = np.random.RandomState(42)
    a = draw.randint(1, 1 << 31, PERMUTATIONS).astype(np.uint64)
    b = draw.randint(0, 1 << 31, PERMUTATIONS).astype(np.uint64)
    tokens = [token for token in re.split(r"\W+", row["text"].lower()) if token]
    grams = {" ".join(tokens[i:i + 3]) for i in range(max(1, len(tokens) - 2))}
    hashes = np.array([int.from_bytes(hashlib.sha1(gram.encode()).digest()[:4], "little") for gram in grams], np.uint64)
    values = (((hashes[:, None] * a + b) % prime) & most).min(0).astype(np.uint32)
    return [((band, values[band * rows:(band + 1) * rows].byteswap().tobytes()), row["id"]) for band in range(bands)]


def edges_of(group):
    ids = list(group[1])
    first = min(ids)
    return [(first, other) for other in ids if other != first]


def large_star(group):
    node, others = group[0], list(group[1])
    least = min(node, *others)
    return [(other, least) for other in others if other > node]


def small_star(group):
    node, others = group[0], list(group[1])
    least = min(others)
    return [(other, least) for other in [*others, node] if other != least]


def components(edges):
    """Large star and small star by turns until nothing changes: (document, least of its component)."""
    edges = edges.map(lambda edge: (max(edge), min(edge))).distinct().cache()
    while True:
        both = edges.flatMap(lambda edge: [edge, edge[::-1]]).groupByKey().flatMap(large_star).distinct()
        after = both.map(lambda edge: (max(edge), min(edge))).groupByKey().flatMap(small_star).distinct().cache()
        if not after.subtract(edges).union(edges.subtract(after)).take(1):
            return after
        edges = after


def like_text_dedup(spark, frame):
    bands, rows = best_bands(THRESHOLD, PERMUTATIONS)
    edges = frame.rdd.flatMap(lambda row: bands_of(row, bands, rows)).groupByKey().flatMap(edges_of).distinct().cache()
    members = np.array(components(edges).collect(), np.int64).reshape(-1, 2)
    first = np.unique(members[:, 1])
    found = [np.concatenate((members[:, 0], first)), np.concatenate((members[:, 1], first))]
    return found, edges.count


METHODS = {"cognate.spark.pairs": cognate_pairs, "Spark ML MinHashLSH": spark_ml,
           "cognate.spark.clusters": cognate_clusters, "the same in many tasks": cognate_clusters_in_many_tasks,
           "as text-dedup": like_text_dedup}
HAS_CLUSTERS = ("cognate.spark.clusters", "the same in many tasks", "as text-dedup")
RIVALS = {"Spark ML MinHashLSH": "cognate.spark.pairs", "as text-dedup": "cognate.spark.clusters"}


# ---- Data and truth --------------------------------------------------------------------------------------------------

def read_texts(arguments, most, folder):
    path = arguments.file
    if path is None:
        from dedup_data import DATA, PLANTER, plant, unpack
        if not DATA.is_dir() or not PLANTER.exists():
            sys.exit(f"{DATA}, {PLANTER}: no documents, or no generator of copies; give a file of documents with --file")
        base, path = pathlib.Path(folder, "base.jsonl"), pathlib.Path(folder, "planted.jsonl")
        unpack(base, DATA / "wikipedia_en/docs.jsonl.zst")
        plant(base, path, f"{folder}/planted.tsv", most)
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["text"] for line, _ in zip(file, range(most), strict=False)]


def truth_of(texts):
    table = cognate.pairs(texts, threshold=THRESHOLD, measure="jaccard", threads=1)
    return table["a"], table["b"]


def quality(found, truth, has_clusters, documents):
    """Recall and precision of pairs."""
    if not has_clusters:
        pairs = [set(zip(*(column.tolist() for column in side), strict=True)) for side in (found, truth)]
        both = len(pairs[0] & pairs[1])
        return both / max(1, len(pairs[1])), both / max(1, len(pairs[0]))
    cluster = -1 - np.arange(documents)
    cluster[found[0]] = found[1]
    both = int((cluster[truth[0]] == cluster[truth[1]]).sum())
    sizes = np.unique(cluster, return_counts=True)[1]
    return both / max(1, len(truth[0])), both / max(1, int((sizes * (sizes - 1) // 2).sum()))


# ---- Runs ------------------------------------------------------------------------------------------------------------

class Run:
    """One method on one size, in a thread, so that it can be ended."""

    def __init__(self, spark, method, frame):
        self.spark, self.method, self.frame = spark, method, frame
        self.found = self.compared = self.error = None

    def _work(self):
        try:
            self.found, self.compared = self.method(self.spark, self.frame)
        except Exception as error:  # jobs that are cancelled end in exceptions of several kinds
            self.error = error

    def finish(self, seconds):
        """The seconds that it took; None if it did not finish."""
        start = time.monotonic()
        thread = threading.Thread(target=self._work)
        thread.start()
        thread.join(seconds)
        late = thread.is_alive()
        while thread.is_alive():
            self.spark.sparkContext.cancelAllJobs()
            thread.join(1)
        if self.error is not None and not late:
            raise self.error
        return None if late else time.monotonic() - start


def start_python(batches):
    import pyarrow.compute  # noqa: F401

    import cognate.batch  # noqa: F401
    yield from batches


def measure(name, sizes, texts, truths, arguments, folder):
    """Seconds of each size that the method finishes."""
    done = {}
    archive = cognate.spark.archive(f"{folder}/env.tar.gz")
    with Cluster(f"{folder}/cluster", workers=2, cores=1, memory="3g") as cluster:
        spark = session(cluster.url, archive, folder, **{
            "spark.executor.memory": "2g", "spark.driver.memory": "2g", "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "8", "spark.default.parallelism": "8",
            "spark.executor.heartbeatInterval": "2s", "spark.executor.metrics.pollingInterval": "500ms"})
        spark.range(0, 64, 1, 16).mapInArrow(start_python, "id long").count()
        metrics = Metrics(spark)
        for size in sizes:
            path = f"{folder}/{size}.parquet"
            write_documents(texts[:size], path)
            before, run = metrics.shuffled_bytes(), Run(spark, METHODS[name], spark.read.parquet(path))
            seconds = run.finish(arguments.seconds)
            if seconds is None:
                print(f"| {size} | {name} | not within {arguments.seconds} | | | | | | |", flush=True)
                break
            shuffled = metrics.shuffled_bytes() - before
            done[size] = seconds
            time.sleep(3)  # executors report their memory every two seconds
            peaks = [executor for executor in metrics.executors() if executor["id"] != "driver"]
            memory = [max((executor[kind] or 0 for executor in peaks), default=0) / 1e6 for kind in ("jvm", "python")]
            recall, precision = quality(run.found, truths[size], name in HAS_CLUSTERS, size)
            print(f"| {size} | {name} | {seconds:.1f} | {recall:.4f} | {precision:.4f} | {run.compared()} | "
                  f"{shuffled / 1e6:.1f} | {memory[0]:.0f} | {memory[1]:.0f} |", flush=True)
        spark.stop()
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="2000,10000,40000", help="sizes (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=120, help="the most for one size (default: %(default)s)")
    parser.add_argument("--only", default=",".join(METHODS))
    parser.add_argument("--file", help="JSON lines with the field text")
    arguments = parser.parse_args()
    sizes = sorted(map(int, arguments.documents.split(",")))
    with tempfile.TemporaryDirectory(prefix="spark-dedup-") as folder:
        texts = read_texts(arguments, sizes[-1], folder)
        sizes = [size for size in sizes if size <= len(texts)]
        truths = {size: truth_of(texts[:size]) for size in sizes}
        bands, rows = best_bands(THRESHOLD, PERMUTATIONS)
        print(f"pairs at {THRESHOLD}: {({size: len(truth[0]) for size, truth in truths.items()})}; text-dedup has {bands} bands "
              f"of {rows}\n\n| documents | method | seconds | recall | precision | pairs compared | MB shuffled | JVM MB | "
              "Python MB |\n|---|---|---|---|---|---|---|---|---|", flush=True)
        done = {}
        for name in arguments.only.split(","):
            with tempfile.TemporaryDirectory(prefix="run-", dir=folder) as own:
                done[name] = measure(name, sizes, texts, truths, arguments, own)
    for rival, ours in RIVALS.items():
        if done.get(rival) and done.get(ours):
            size = max(done[rival])
            print(f"{size} documents: {rival} takes {done[rival][size] / done[ours][size]:.1f} times as long as {ours}")


if __name__ == "__main__":
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    main()
