#!/usr/bin/env python3
"""faiss's exhaustive binary index on one thread, over the rows and queries that bench_flat wrote.

    peer_faiss.py FOLDER ROW_BYTES K QUERIES...

prints for each number of queries, which are the first of the file, the median processor seconds of a batch and the sum
of the distances found. Without faiss at hand it makes a virtual environment in build/venv-faiss with faiss-cpu from
PyPI (the packaged libfaiss of some systems lacks POPCNT and would be no rival)."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peers  # noqa: E402


def need_faiss():
    peers.need("faiss", "faiss-cpu", "numpy")


def main():
    need_faiss()
    import faiss
    import numpy

    folder, row_bytes, k = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    faiss.omp_set_num_threads(1)
    rows = numpy.fromfile(folder / "rows.bin", dtype=numpy.uint8).reshape(-1, row_bytes)
    queries = numpy.fromfile(folder / "queries.bin", dtype=numpy.uint8).reshape(-1, row_bytes)
    index = faiss.IndexBinaryFlat(row_bytes * 8)
    index.add(rows)
    for count in map(int, sys.argv[4:]):
        seconds = []
        for _ in range(max(5, 64 // count)):  # the rounds of bench_flat
            start = time.process_time()
            distances, _ = index.search(queries[:count], k)
            seconds.append(time.process_time() - start)
        print(sorted(seconds)[len(seconds) // 2], int(distances.sum()))


if __name__ == "__main__":
    main()
