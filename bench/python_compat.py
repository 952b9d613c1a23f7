#!/usr/bin/env python3
"""cognate.compat next to datasketch and faiss in one run: sketches of sets, and binary indexes of lists.

usage: python_compat.py [SETS] [ROWS]      needs the packages cognate, datasketch and faiss-cpu

Seconds are processor time of all threads, the least of three rounds. Sketches have the same hash values on both sides,
which is checked. Recall is the share of the 10 nearest distances of a flat index that a search has."""
import random
import sys
import time

import datasketch
import faiss
import numpy as np

from cognate.compat import datasketch as our_sketches
from cognate.compat import faiss as our_indexes

ROUNDS = 3


def least(work):
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        answer = work()
        seconds.append(time.process_time() - start)
    return min(seconds), answer


def sketched(module, sets, scheme, how):
    if how == "bulk":
        return module.MinHash.bulk(sets, scheme=scheme)
    sketches = [module.MinHash(scheme=scheme) for _ in sets]
    for sketch, elements in zip(sketches, sets):
        if how == "update_batch":
            sketch.update_batch(elements)
        else:
            for element in elements:
                sketch.update(element)
    return sketches


def compare_sketches(count):
    draw = random.Random(1)
    sets = [[f"word{draw.randrange(9999)} {i}".encode() for i in range(33)] for _ in range(count)]
    print(f"{count} sets of 33 elements, 128 permutations; microseconds of processor time per set")
    print(f"{'scheme':10}{'call':14}{'cognate':>9}{'datasketch':>12}{'ratio':>8}")
    for scheme in ("affine32", "affine64", "legacy"):
        for how in ("update", "update_batch", "bulk"):
            part = sets[:count // 10] if how == "update" else sets
            ours, first = least(lambda: sketched(our_sketches, part, scheme, how))
            theirs, second = least(lambda: sketched(datasketch, part, scheme, how))
            assert all(np.array_equal(a.hashvalues, b.hashvalues) for a, b in zip(first, second))
            print(f"{scheme:10}{how:14}{ours / len(part) * 1e6:9.1f}{theirs / len(part) * 1e6:12.1f}"
                  f"{theirs / ours:8.1f}", flush=True)


def index_rows(count):
    """Rows around centres, 8 in 100 bits changed, and queries near rows."""
    draw = np.random.default_rng(1)
    changed = lambda rows, share: np.packbits(draw.random((rows, 64)) < share, axis=1)
    centres = draw.integers(0, 256, (max(1, count // 100), 8), np.uint8)
    rows = centres[draw.integers(0, len(centres), count)] ^ changed(count, 0.08)
    return rows, rows[draw.integers(0, count, 2000)] ^ changed(2000, 0.04)


def compare_indexes(count):
    rows, queries = index_rows(count)
    flat = our_indexes.IndexBinaryFlat(64)
    flat.add(rows)
    seconds, (truth, _) = least(lambda: flat.search(queries, 10))
    print(f"\n{count} rows of 64 bits, the 10 nearest of 2000 queries; flat {seconds:.3f} s of processor time")
    print(f"{'index':20}{'cognate s':>10}{'recall':>8}{'faiss s':>10}{'recall':>8}")
    made = {}
    for module in (our_indexes, faiss):
        inverted, hashed = module.IndexBinaryIVF(module.IndexBinaryFlat(64), 64, 256), module.IndexBinaryHash(64, 16)
        inverted.train(rows)
        for index in (inverted, hashed):
            index.add(rows)
            index.search(queries[:1], 1)
        made[module] = {"nprobe": inverted, "nflip": hashed}
    for knob, values in (("nprobe", (1, 4, 16, 64, 256)), ("nflip", (0, 1, 2, 3, 4))):
        for value in values:
            line = f"{'IVF256' if knob == 'nprobe' else 'Hash16'} {knob} {value:<6}"
            for module in (our_indexes, faiss):
                index = made[module][knob]
                setattr(index, knob, value)
                seconds, (distances, _) = least(lambda: index.search(queries, 10))
                line = f"{line:20}{seconds:10.3f}{np.mean(distances == truth):8.4f}" if module is our_indexes else (
                    f"{line}{seconds:10.3f}{np.mean(distances == truth):8.4f}")
            print(line, flush=True)


if __name__ == "__main__":
    faiss.omp_set_num_threads(1)
    sizes = [int(argument) for argument in sys.argv[1:]] + [5000, 200_000][len(sys.argv) - 1:]
    compare_sketches(sizes[0])
    compare_indexes(sizes[1])
