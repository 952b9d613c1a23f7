#!/usr/bin/env python3
"""Single queries on an open index of a million signatures: the cost of the call from Python next to the same query from
C.

usage: python_search.py [ROWS]      needs the package cognate, and the benchmark programs in build/bench

Both sides are processor time of one thread, the median of five rounds over the same queries; the C side is
bench_searcher, a process of its own with the same index. The goal is that Python adds less than 5 us.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import cognate

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 5


def per_call_us(index: cognate.Index, queries: np.ndarray, **options) -> float:
    rows = [queries[i:i + 1] for i in range(len(queries))]
    rounds = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        for row in rows:
            index.search(row, **options)
        rounds.append((time.thread_time() - start) / len(rows) * 1e6)
    return statistics.median(rounds)


def from_c(folder: pathlib.Path, queries: pathlib.Path, method: str, radius: int) -> tuple[float, float]:
    done = subprocess.run([ROOT / "build/bench/bench_searcher", folder, queries, method, str(radius)],
                          capture_output=True, text=True, check=True)
    words = done.stdout.split()
    return float(words[1]), float(words[4])


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    draw = np.random.default_rng(1)
    rows = draw.integers(0, 256, (count, 8), np.uint8)
    near = rows[draw.integers(0, count, 4000)] ^ (draw.random((4000, 64)) < 2 / 64).astype(np.uint8).reshape(
        4000, 8, 8).dot(1 << np.arange(8)).astype(np.uint8)
    print(f"{count} signatures of 64 bits; microseconds of processor time per query")
    print(f"{'method':8} {'asked':>10} {'C, one call':>12} {'C searcher':>11} {'Python':>8} {'added':>7}")
    with tempfile.TemporaryDirectory() as scratch:
        for method, asked, radius, queries in (("bphs", "radius 3", 3, near), ("flat", "radius 3", 3, near[:200]),
                                               ("flat", "k = 10", 0, near[:200])):
            folder = pathlib.Path(scratch) / f"{method}{radius}"
            np.save(folder.with_suffix(".npy"), queries)
            cognate.Index.build(rows, method=method, **({"radius": radius} if method == "bphs" else {})).save(folder)
            call_us = from_c(folder, folder.with_suffix(".npy"), method, radius)
            options = {"radius": radius} if radius else {"k": 10}
            python = per_call_us(cognate.Index.open(folder), queries, method=method, **options)
            print(f"{method:8} {asked:>10} {call_us[1]:12.2f} {call_us[0]:11.2f} {python:8.2f} "
                  f"{python - call_us[0]:7.2f}", flush=True)


if __name__ == "__main__":
    main()
