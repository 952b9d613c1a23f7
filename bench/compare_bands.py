#!/usr/bin/env python3
"""Bands of minhash values next to datasketch's MinHashLSH with the same bands and rows, in one run on one thread.

    compare_bands.py COGNATE DOCUMENTS.jsonl.zst

Both get the documents' word 3-grams and list the pairs whose true Jaccard coefficient is 0.8 or more; times are
processor seconds of the whole, reading and making n-grams included. Without datasketch at hand it makes a virtual
environment in build/venv-datasketch with the one from PyPI."""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import peers

THRESHOLD, VALUES = 0.8, 128


def run_cognate(cognate, path, *options):
    with tempfile.TemporaryDirectory() as folder:
        found, stats = pathlib.Path(folder, "found.tsv"), pathlib.Path(folder, "stats.json")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([cognate, "pairs", path, "--measure", "jaccard", "--tokens", "regex", "--threshold",
                        str(THRESHOLD), "--threads", "1", "--quiet", "-o", found, "--stats", stats, *options], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        pairs = {tuple(sorted(line.split("\t")[:2])) for line in found.read_text().splitlines()[1:]}
        return pairs, seconds, json.loads(stats.read_text())


def run_datasketch(path, bands, rows):
    from datasketch import MinHash, MinHashLSH

    start = time.process_time()
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout.decode()
    grams, hashes = {}, {}
    tables = MinHashLSH(num_perm=VALUES, params=(bands, rows))
    for line in text.splitlines():
        document = json.loads(line)
        words = re.findall(r"\w+", document["text"].lower())
        grams[document["id"]] = {" ".join(words[i:i + 3]) for i in range(len(words) - 2)}
        hashes[document["id"]] = MinHash(num_perm=VALUES)
        hashes[document["id"]].update_batch([gram.encode() for gram in grams[document["id"]]])
        tables.insert(document["id"], hashes[document["id"]])
    pairs = set()
    for a, hashed in hashes.items():
        for b in tables.query(hashed):
            if a < b and len(grams[a] & grams[b]) >= THRESHOLD * len(grams[a] | grams[b]) > 0:
                pairs.add((a, b))
    return pairs, time.process_time() - start


def main():
    peers.need("datasketch", "datasketch")
    cognate, path = sys.argv[1:]
    truth, exact_seconds, _ = run_cognate(cognate, path, "--method", "exact")
    print(f"{len(truth)} pairs at {THRESHOLD}; the exact join takes {exact_seconds:.2f} s")
    for bands in 8, 16, 32:
        found, seconds, stats = run_cognate(cognate, path, "--method", "lsh", "--bits", str(32 * VALUES), "--value-bits",
                                            "32", "--tables", str(bands))
        peer, peer_seconds = run_datasketch(path, bands, int(stats["band_values"]))
        print(f"{bands} bands of {stats['band_values']}: recall {len(found & truth) / len(truth):.4f} in {seconds:.2f} s, "
              f"datasketch {len(peer & truth) / len(truth):.4f} in {peer_seconds:.2f} s ({peer_seconds / seconds:.0f}x)")


if __name__ == "__main__":
    main()
