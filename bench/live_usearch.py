"""The work of bench_live by usearch: signatures of 64 bits in its graph, by Hamming distance, with ids.

usage: live_usearch.py [SIGNATURES] [SECONDS]

Signatures are hashes of numbers; one in ten is an earlier one with two bits changed. There is no text to read, no id
that must be new, nothing on disk (an index is saved as a whole), and no vector that verifies an answer: less work than
an index of documents has. "Seen it?" is the nearest signature, at a distance of 3 or less."""
import sys
import threading
import time

import peers

peers.need("usearch", "usearch", "numpy")

import numpy  # noqa: E402
from usearch.index import Index  # noqa: E402

WRITERS = 16
RADIUS_BITS = 3


def signatures_of(numbers):
    """One row of 8 bytes for each number."""
    numbers = numbers.astype(numpy.uint64)
    is_copy = numbers % 10 == 9
    mixed = numpy.where(is_copy, numbers // 2, numbers) + numpy.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> numpy.uint64(shift))) * numpy.uint64(factor)
    mixed ^= mixed >> numpy.uint64(31)
    flips = (numpy.uint64(1) << (numbers % 61)) | (numpy.uint64(1) << (numbers % 59 + numpy.uint64(2)))
    return numpy.where(is_copy, mixed ^ flips, mixed).view(numpy.uint8).reshape(-1, 8)


class Numbers:
    """Numbers that threads take one at a time, and their signatures, made in advance."""

    def __init__(self, first, count):
        self.first, self.taken, self.lock = first, 0, threading.Lock()
        self.rows = signatures_of(numpy.arange(first, first + count))

    def take(self):
        """The next number and its signature."""
        with self.lock:
            at = self.taken % len(self.rows)
            self.taken += 1
        return self.first + at, self.rows[at]


def add_for(index, numbers, seconds, pace, counts, writer):
    """Adds one signature at a time; `pace` is the least time between two."""
    end = due = time.perf_counter()
    end += seconds
    while time.perf_counter() < end:
        number, row = numbers.take()
        index.add(number, row, threads=1)
        counts[writer] += 1
        due += pace
        wait = due - time.perf_counter()
        if pace and wait > 0:
            time.sleep(wait)


def add_by(index, numbers, writers, seconds):
    """Signatures per second that `writers` threads add."""
    counts = [0] * writers
    threads = [threading.Thread(target=add_for, args=(index, numbers, seconds, 0, counts, i)) for i in range(writers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def ask_for(index, most, seconds, what):
    """Asks for signatures of which half may be there, and prints how long it takes."""
    queries = signatures_of(numpy.random.default_rng(1).integers(0, 2 * most, 100000))
    times, found, asked = [], 0, 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        match = index.search(queries[asked % len(queries)], 1, threads=1)
        found += len(match.distances) > 0 and match.distances[0] <= RADIUS_BITS
        times.append(time.perf_counter() - start)
        asked += 1
    p50, p99 = numpy.percentile(times, [50, 99]) * 1e6
    print(f"{what:46} p50 {p50:8.1f} us   p99 {p99:8.1f} us   found {found / asked:.3f} ({asked})", flush=True)


def main():
    """Fills an index, and measures additions and questions."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    index = Index(ndim=64, metric="hamming", dtype="b1")
    start = time.perf_counter()
    index.add(numpy.arange(count), signatures_of(numpy.arange(count)))
    print(f"{'usearch, building':46} {count / (time.perf_counter() - start):.0f} signatures/s", flush=True)
    ask_for(index, count, seconds, "usearch, seen it? alone")
    numbers = Numbers(count, 2000000)
    for writers in (1, WRITERS):
        rate = add_by(index, numbers, writers, seconds)
        print(f"{f'usearch, {writers} writers, in memory':46} {rate:.0f} signatures/s", flush=True)
    counts = [0]
    feeding = threading.Thread(target=add_for, args=(index, numbers, seconds, 0.001, counts, 0))
    feeding.start()
    ask_for(index, count, seconds, "usearch, seen it? with 1,000 additions per s")
    feeding.join()
    print(f"{'additions meanwhile':46} {counts[0] / seconds:.0f} signatures/s", flush=True)


if __name__ == "__main__":
    main()
