#!/usr/bin/env python3
"""What large joins and deduplications take on a cluster, from measured constants: machines, hours, bytes.

usage: bench/spark/spark_estimate.py --row-us A --comparison-ns B --document-us C --document-bytes D

An extrapolation. A and B are per core: bench/spark/spark_windows.py --fit prints them. A is all that a row costs under one
order of its bits or one key: permuting, the shuffle, sorting, writing and reading it again. C and D are the core microseconds
in stages and the bytes shuffled of `cognate spark dedup` per document: bench/spark/spark_scale.py prints them. Comparisons and bytes of joins are those of `cognate.spark.plan`. Reading, signing and true
measures of joins come on top, and so do starts, stragglers and a network that is slower than this machine's loopback.
"""
import argparse
import sys

from cognate.spark import plan
from cognate.spark._plan import KEY_ROW_BYTES

CORES = 16  # of a machine
JOBS = [("1.47M by 3.44M articles, cosine 0.3", (1_470_000, 3_440_000), 0.3, [
            ("window", {"tables": 300, "window": 2000}), ("window", {"tables": 1000, "window": 2000}), ("flat", {})], 16),
        ("617M queries, cosine 0.7", (617_000_000, 0), 0.7, [
            ("lsh", {"key_bits": 16, "tables": 10, "flips": 2, "flip_mode": 1})], 64),
        ("5,000M documents, cosine 0.9", (5_000_000_000, 0), 0.9, [
            ("lsh", {"key_bits": 32, "tables": 20, "flips": 2}), ("window", {"tables": 30, "window": 200})], 64)]
DOCUMENTS = 5_000_000_000


def emitted(rows, chosen):
    """Rows that a join shuffles: under each order of the bits, under each key, or once per block of the other side."""
    join, total = chosen.join, sum(rows)
    if join.method == "flat":
        return chosen.shuffled_bytes / (128 + KEY_ROW_BYTES)
    return total * join.tables * (1 + join.flips)


def show(job, settings, recall, comparisons, shuffled, hours, machines):
    print(f"| {job} | {settings} | {recall} | {comparisons} | {shuffled / 1e12:.2f} TB | {hours:.1f} | {machines} machines of "
          f"{CORES} cores: {hours / machines / CORES * 60:.1f} minutes |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row-us", type=float, required=True)
    parser.add_argument("--comparison-ns", type=float, required=True)
    parser.add_argument("--document-us", type=float, required=True)
    parser.add_argument("--document-bytes", type=float, required=True)
    arguments = parser.parse_args()
    print("$", *sys.argv)
    print("| job | settings | recall at the threshold, by the model | comparisons | shuffled | core hours | on |\n"
          "|---|---|---|---|---|---|---|")
    for job, rows, threshold, ways, machines in JOBS:
        for method, knobs in ways:
            chosen = plan(*rows, method=method, threshold=threshold, knobs=knobs)
            seconds = emitted(rows, chosen) * arguments.row_us * 1e-6 + chosen.comparisons * arguments.comparison_ns * 1e-9
            settings = ", ".join([method, *(f"{name} {value}" for name, value in knobs.items())])
            show(job, settings, f"{chosen.join.expected_recall:.2f}", f"{chosen.comparisons:.1e}",
                 chosen.shuffled_bytes, seconds / 3600, machines)
    show("5,000M documents, Jaccard 0.8", "exact, `dedup`", "1", "", DOCUMENTS * arguments.document_bytes,
         DOCUMENTS * arguments.document_us * 1e-6 / 3600, 64)


if __name__ == "__main__":
    main()
