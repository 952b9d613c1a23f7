#!/usr/bin/env python3
"""Slice lists and faiss-cpu's approximate binary indexes at equal recall@10, in one run on one thread.

    compare_neighbours.py FOLDER [--keep] [--only NAME ...]

FOLDER has rows.npy and queries.npy (bench/search/passages.py, or bench_slices write). Every index answers the same queries,
none of which is a row, for k = 10. Settings are chosen on the first half of the queries: the fastest whose recall
reaches the goal; time and recall reported are those of the second half. A hit counts if it is as near as the true
tenth. Times are processor milliseconds a query; faiss gets all queries in one call, slices one at a time. Build times
are processor seconds, memory is what the process grew by. --keep stores faiss's indexes in FOLDER and takes them from
there the next time (the build time is then that of the first). A whole run takes about 20 minutes of processor time,
nearly all of it for building IVF and HNSW."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

from peer_faiss import need_faiss

K = 10
QUERIES = 400  # the first of the file, the number that bench_slices curve takes
RECALLS = (0.90, 0.99)
PEERS = ("ivf1024", "ivf4096", "hnsw16", "hnsw32", "multihash16", "multihash64")


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def make_index(faiss, name, bits):
    """The index, and the settings to try: pairs of a label and a function that sets them."""
    if name.startswith("ivf"):
        lists = int(name[3:])
        index = faiss.IndexBinaryIVF(faiss.IndexBinaryFlat(bits), bits, lists)
        index.cp.niter, index.cp.max_points_per_centroid = 10, 40
        return index
    if name.startswith("hnsw"):
        index = faiss.IndexBinaryHNSW(bits, int(name[4:]))
        index.hnsw.efConstruction = 80
        return index
    return faiss.IndexBinaryMultiHash(bits, int(name[9:]), 1024 // 64)


def settings_of(name):
    if name.startswith("ivf"):
        probes = (1, 4, 16, 32, 64, 128, 256, 384, 512, 640, 768, 1024, 1536, 2048, 3072, 4096)
        return [("nprobe", n) for n in probes if n <= int(name[3:])]
    if name.startswith("hnsw"):
        efforts = (10, 20, 40, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120)
        return [("efSearch", n) for n in efforts]
    return [("nflip", n) for n in range(3 if name == "multihash64" else 4)]


def apply(index, name, setting, value):
    if name.startswith("hnsw"):
        index.hnsw.efSearch = value
    else:
        setattr(index, setting, value)


def build(faiss, name, rows, kept):
    before, start = resident_bytes(), time.process_time()
    index = make_index(faiss, name, rows.shape[1] * 8)
    faiss.omp_set_num_threads(os.cpu_count())
    index.train(rows)
    index.add(rows)
    note = {"build_seconds": time.process_time() - start, "bytes_a_row": (resident_bytes() - before) / len(rows)}
    if kept:
        faiss.write_index_binary(index, str(kept))
        kept.with_suffix(".json").write_text(json.dumps(note))
    return index, note


def peer(folder, name, keep):
    """Prints one line of JSON: what building took, then a point for each setting."""
    import faiss
    import numpy

    rows, queries = numpy.load(folder / "rows.npy"), numpy.load(folder / "queries.npy")[:QUERIES]
    truth = numpy.load(folder / "truth.npy")[:, K - 1]
    kept = folder / f"{name}.faiss" if keep else None
    if kept and kept.exists():
        index, note = faiss.read_index_binary(str(kept)), json.loads(kept.with_suffix(".json").read_text())
    else:
        index, note = build(faiss, name, rows, kept)
    faiss.omp_set_num_threads(1)
    half, points = len(queries) // 2, []
    for setting, value in settings_of(name):
        apply(index, name, setting, value)
        point = {"setting": f"{setting} {value}"}
        for part, begin in ("chosen", 0), ("measured", half):
            start = time.process_time()
            distances, ids = index.search(queries[begin:begin + half], K)
            milliseconds = (time.process_time() - start) * 1e3 / half
            good = (distances <= truth[begin:begin + half, None]) & (ids >= 0)
            point[part] = [milliseconds, float(good.sum()) / (half * K)]
        points.append(point)
        if point["measured"][0] > 40:
            break
    print(json.dumps({"name": f"faiss {name}", **note, "points": points}))


def find_truth(folder):
    import faiss
    import numpy

    rows, queries = numpy.load(folder / "rows.npy"), numpy.load(folder / "queries.npy")[:QUERIES]
    index = faiss.IndexBinaryFlat(rows.shape[1] * 8)
    index.add(rows)
    faiss.omp_set_num_threads(1)
    start = time.process_time()
    distances, _ = index.search(queries, K)
    print(f"faiss exhaustive, all queries at once: {(time.process_time() - start) * 1e3 / len(queries):.3f} ms")
    numpy.save(folder / "truth.npy", distances)


def ours(folder, programs):
    """bench_slices prints a line for each index, then one for each setting of it."""
    curves = []
    result = subprocess.run([programs / "bench_slices", "curve", folder], check=True, text=True,
                            stdout=subprocess.PIPE)
    for line in result.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "exhaustive":
            for name, milliseconds in ("scan of one query", fields[1]), ("tiles of all queries", fields[2]):
                point = {"setting": "exhaustive", "chosen": [float(milliseconds), 1.0]}
                point["measured"] = point["chosen"]
                curves.append({"name": name, "build_seconds": 0, "bytes_a_row": 128, "points": [point]})
        elif fields[0] == "index":
            curves.append({"name": fields[1], "build_seconds": float(fields[2]), "bytes_a_row": float(fields[3]),
                           "points": []})
        else:
            numbers = [float(field) for field in fields[1:5]]
            curves[-1]["points"].append({"setting": fields[0], "chosen": numbers[:2], "measured": numbers[2:]})
    return curves


def choose(curves, recall):
    """The fastest point of all curves whose recall on the first half is enough."""
    points = [(point["chosen"][0], curve["name"], point) for curve in curves for point in curve["points"]
              if point["chosen"][1] >= recall]
    return min(points, key=lambda entry: entry[0]) if points else None


def print_curve(curve):
    print(f"\n{curve['name']}: built in {curve['build_seconds']:.1f} processor seconds, "
          f"{curve['bytes_a_row']:.0f} bytes per row")
    for point in curve["points"]:
        print(f"  {point['setting']:32} recall {point['measured'][1]:.3f} {point['measured'][0]:9.3f} ms")


def print_goals(curves):
    """Ours one query at a time, the same with weights, and all queries at once, against faiss, which always gets all
    queries at once."""
    own = {"one query at a time": ("scan", "slices", "columns"),
           "with known weights": ("scan", "slices", "columns", "weights"),
           "all queries at once": ("scan", "slices", "columns", "tiles")}
    peers = {"IVF": ("faiss ivf",), "HNSW": ("faiss hnsw",), "MultiHash": ("faiss multihash",)}
    for recall in RECALLS:
        print(f"\nrecall@{K} of {recall}, chosen on one half of the queries, measured on the other:")
        best = {group: choose([curve for curve in curves if curve["name"].startswith(starts)], recall)
                for group, starts in {**own, **peers}.items()}
        for group, found in best.items():
            if found:
                _, name, point = found
                short = "" if point["measured"][1] >= recall else " (short of it on this half)"
                print(f"  {group:20} {point['measured'][0]:9.3f} ms  recall {point['measured'][1]:.3f}{short}  "
                      f"{name}, {point['setting']}")
            else:
                print(f"  {group:20} not reached")
        for group in own:
            for name in peers:
                goal = 2 if name == "IVF" and recall == 0.90 else 1
                what = f"  goal: {group}, {goal} times as fast as {name} or more:"
                if not any(curve["name"].startswith(peers[name]) for curve in curves):
                    print(f"{what} not judged, {name} was not run")
                elif not best[name]:
                    print(f"{what} no ratio, no setting of {name} that was tried has this recall")
                else:
                    ratio = best[name][2]["measured"][0] / best[group][2]["measured"][0]
                    print(f"{what} {'met' if ratio >= goal else 'missed'} ({ratio:.2f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", nargs="*", default=PEERS)
    parser.add_argument("--peer")
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    need_faiss()
    if options.peer == "truth":
        return find_truth(options.folder)
    if options.peer:
        return peer(options.folder, options.peer, options.keep)
    command = [sys.executable, __file__, str(options.folder), *(["--keep"] if options.keep else []), "--peer"]
    subprocess.run([*command, "truth"], check=True)
    curves = ours(options.folder, options.programs)
    for name in options.only:
        done = subprocess.run([*command, name], check=True, text=True, stdout=subprocess.PIPE)
        curves.append(json.loads(done.stdout.splitlines()[-1]))
    for curve in curves:
        print_curve(curve)
    print_goals(curves)


if __name__ == "__main__":
    main()
