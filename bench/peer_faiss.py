#!/usr/bin/env python3
"""faiss's exhaustive binary index on one thread, over the rows and queries that bench_flat wrote.

    peer_faiss.py FOLDER ROW_BYTES K QUERIES...

prints for each number of queries, which are the first of the file, the median processor seconds of a batch and the sum
of the distances found. Without faiss at hand it makes a
virtual environment in build/venv with faiss-cpu from PyPI (the packaged libfaiss of some systems lacks
POPCNT and would be no rival)."""
import os
import pathlib
import subprocess
import sys
import time

VENV = pathlib.Path("build/venv")


def inside_environment():
    try:
        import faiss  # noqa: F401
        return True
    except ImportError:
        return False


def enter_environment():
    python = VENV / "bin" / "python"
    if os.environ.get("COGNATE_PEER") == "entered":
        sys.exit("peer_faiss.py: faiss-cpu cannot be imported from build/venv")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "faiss-cpu", "numpy"], check=True,
                       stdout=sys.stderr)
    os.execve(python, [str(python), *sys.argv], {**os.environ, "COGNATE_PEER": "entered"})


def main():
    if not inside_environment():
        enter_environment()
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
