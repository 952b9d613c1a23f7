#!/usr/bin/env python3
"""Whether the recall that an index states is kept: ten collections of real documents, the methods that answer the nearest,
targets 0.8 to 0.99. The queries are documents that the index does not hold; truth is the exact search.

usage: bench/search/recall_kept.py PROGRAM DATA [COLLECTION...]   (DATA: the folder of real documents)
Prints one line per run (recall, and processor seconds of the search and of the build) and a summary: runs at or above the
target, and by how much the worst falls short."""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

QUERIES = 1000
TARGETS = ("0.8", "0.9", "0.95", "0.99")
METHODS = ("auto", "flat", "slices", "columns")
# name: file, column of a table (None: jsonl), documents at most
COLLECTIONS = {
    "dev_en": ("xling_de_en/dev/en.jsonl.zst", None, 20000),
    "dev_de": ("xling_de_en/dev/de.jsonl.zst", None, 20000),
    "distractors_de": ("xling_de_en/distractors/de.jsonl.zst", None, 20000),
    "distractors_en": ("xling_de_en/distractors/en.jsonl.zst", None, 20000),
    "mdn_en": ("xling_de_en/mdn/en.jsonl.zst", None, 20000),
    "mdn_de": ("xling_de_en/mdn/de.jsonl.zst", None, 20000),
    "revisions": ("neardup/revisions_mdn_en", None, 20000),
    "speeches_en": ("europarl_sent", 1, 30000),
    "speeches_de": ("europarl_sent", 0, 30000),
    "messages_en": ("gettext_sent", 1, 30000),
}


def lines_of(path):
    if os.path.isdir(path):
        path = next(os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".zst"))
    done = subprocess.run(["zstdcat", path], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8").splitlines()


def documents(data, name):
    file, column, most = COLLECTIONS[name]
    texts = lines_of(os.path.join(data, file))
    if column is None:
        texts = [json.loads(line)["text"] for line in texts]
    else:
        texts = [line.split("\t")[column] for line in texts]
    random.Random(1).shuffle(texts)
    return [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts[:most])]


def run(program, *words):
    """Processor seconds of the command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, *words, "--quiet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def recall(program, found, truth):
    out = subprocess.run([program, "eval", "neighbours", found, truth, "--quiet"], check=True, stdout=subprocess.PIPE)
    return float(out.stdout.decode().split("recall@10\t")[1].split()[0])


def try_collection(program, data, name):
    lines = documents(data, name)
    for part, rows in (("queries.jsonl", lines[:QUERIES]), ("rows.jsonl", lines[QUERIES:])):
        with open(part, "w", encoding="utf-8") as file:
            file.write("\n".join(rows) + "\n")
    runs = []
    for method in METHODS:
        folder = f"{name}.{method}"
        build_seconds = run(program, "index", "build", folder, "rows.jsonl", "--method", method)
        if method == METHODS[0]:  # the truth is the same for all
            run(program, "search", folder, "queries.jsonl", "--method", "exact", "-o", "truth.tsv")
        for target in TARGETS:
            seconds = run(program, "search", folder, "queries.jsonl", "--method", method, "--recall", target, "-o", "found.tsv",
                          "--stats", "stats.json")
            stats = json.load(open("stats.json", encoding="utf-8"))
            kept = recall(program, "found.tsv", "truth.tsv")
            runs.append((kept - float(target), stats["method"] == "exact"))
            print(f"{name}\t{len(lines) - QUERIES}\t{method}\t{target}\t{kept:.4f}\t{stats.get('recall_at_build', 1):.4f}"
                  f"\t{stats['method']}\t{stats['comparisons'] / QUERIES:.0f}\t{stats.get('candidates', 0) / QUERIES:.0f}"
                  f"\t{seconds:.2f}\t{build_seconds:.1f}", flush=True)
    return runs


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not os.path.isdir(data):
        sys.exit(f"{data}: the real documents are not here")
    print("collection\trows\tmethod\ttarget\trecall@10\tat the build\tanswered by\tcomparisons per query\tcandidates per query\tCPU seconds\tof the build")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in sys.argv[3:] or COLLECTIONS:
            runs += try_collection(program, data, name)
        os.chdir("/")
    kept = sum(by >= 0 for by, _ in runs)
    exact = sum(is_exact for _, is_exact in runs)
    print(f"{kept} of {len(runs)} runs at or above their target; the worst is short by {max(0, -min(runs)[0]):.4f}; "
          f"{exact} were answered exactly, because that was as fast or nothing less was enough")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{usage.ru_utime + usage.ru_stime:.0f} CPU seconds in all")


main()
