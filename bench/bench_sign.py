#!/usr/bin/env python3
"""Whole jobs of signing, from JSON lines on disk to signatures on disk, next to a public simhash library and a plain
scalar loop in the same run.

    bench_sign.py [--data FOLDER] [--large GIGABYTES]

--large signs a file of that size (the documents repeated with new ids) and prints the peak memory. Needs the
folder of real documents; everything made stays below build/bench-data."""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import time

import peers

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench-data"
COGNATE = ROOT / "build" / "cognate"
SETS = ["wikipedia_en/docs", "xling_de_en/mdn/en", "xling_de_en/mdn/de", "xling_de_en/dev/en", "xling_de_en/dev/de",
        "xling_de_en/distractors/en", "neardup/revisions_mdn_en/docs"]
ROUNDS = 5

PEER = """
import json, sys, time
from simhash import Simhash
import re
lines = open(sys.argv[1], encoding="utf-8").readlines()[: int(sys.argv[2])]
start = time.process_time()
for line in lines:
    Simhash(re.findall(r"\\w+", json.loads(line)["text"].lower()))
seconds = time.process_time() - start
print(sum(len(line.encode()) for line in lines) / 1e6 / seconds)
"""


def collect(data):
    """All sets one after the other, with ids made unique, as one file."""
    path = WORK / "documents.jsonl"
    if path.exists():
        return path
    WORK.mkdir(parents=True, exist_ok=True)
    with open(str(path) + ".part", "wb") as out:
        for number, name in enumerate(SETS):
            text = subprocess.run(["zstdcat", str(data / f"{name}.jsonl.zst")], check=True, stdout=subprocess.PIPE).stdout
            out.write(text.replace(b'{"id": "', b'{"id": "%d:' % number))
    os.rename(str(path) + ".part", path)
    return path


def repeat(path, gigabytes):
    large = WORK / f"documents-{gigabytes}g.jsonl"
    if not large.exists():
        text = path.read_bytes()
        with open(str(large) + ".part", "wb") as out:
            copy = 0
            while out.tell() < gigabytes * 1e9:
                out.write(text.replace(b'{"id": "', b'{"id": "%d/' % copy))
                copy += 1
        os.rename(str(large) + ".part", large)
    return large


def sign(path, *options):
    """Wall seconds, processor seconds, and the report."""
    stats = WORK / "stats.json"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run([str(COGNATE), "sign", str(path), "-o", str(WORK / "out.npy"), "--stats", str(stats), "--quiet",
                    *options], check=True)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used, json.loads(stats.read_text())


def speed(path, *options):
    megabytes = path.stat().st_size / 1e6
    runs = [sign(path, *options) for _ in range(ROUNDS)]
    return megabytes / statistics.median(r[0] for r in runs), megabytes / statistics.median(r[1] for r in runs)


def peer_speed(path):
    output = subprocess.run([peers.python_with("simhash", "simhash"), "-c", PEER, str(path), "400"], check=True, stdout=subprocess.PIPE, text=True)
    return float(output.stdout)


def plain_speed(path):
    program = ROOT / "build" / "bench" / "plain_simhash"
    runs = [float(subprocess.run([str(program), str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0])
            for _ in range(ROUNDS)]
    return statistics.median(runs)


def print_speeds(path):
    print(f"signing {path.stat().st_size / 1e6:.0f} MB of JSON lines, MB/s, medians of {ROUNDS}")
    plain, peer = plain_speed(path), peer_speed(path)
    print(f"{'':42}{'wall':>8}{'per core second':>18}{'/ plain loop':>14}{'/ library':>11}")
    for name, options in (("simhash 64", ["--signature", "simhash"]), ("rp 1024, BM25, with its statistics pass", [])):
        alone = None
        for threads in ("1", "2"):
            wall, core = speed(path, *options, "--threads", threads)
            scale = f"  {wall / alone:.2f} times one thread" if alone else ""
            alone = alone or wall
            print(f"{name + ', ' + threads + ' thread(s)':42}{wall:8.0f}{core:18.0f}{core / plain:13.1f}x{core / peer:10.0f}x{scale}")
    print(f"{'plain scalar loop, simhash 64':42}{'':8}{plain:18.0f}")
    print(f"{'simhash (PyPI), 400 documents':42}{'':8}{peer:18.2f}")


def print_memory(path, gigabytes):
    large = repeat(path, gigabytes)
    for name, options in (("simhash 64", ["--signature", "simhash"]), ("rp 1024, BM25", [])):
        seconds, _, report = sign(large, *options)
        vocabulary = report.get("vocabulary_bytes", 0)
        print(f"{name}: {large.stat().st_size / 1e9:.1f} GB in {seconds:.0f} s, peak memory "
              f"{report['process_peak_bytes'] / 1e6:.0f} MB, of which vocabulary {vocabulary / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--large", type=int, default=0)
    arguments = parser.parse_args()
    if not arguments.data.exists():
        print("bench_sign: skipped, no folder of documents (--data)")
        return
    path = collect(arguments.data)
    print_speeds(path)
    if arguments.large:
        print_memory(path, arguments.large)


if __name__ == "__main__":
    main()
