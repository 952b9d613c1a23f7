#!/usr/bin/env python3
"""A corpus larger than memory: `cognate dedup` of several parts of planted copies within --memory.

    dedup_scale.py BASE.jsonl [--parts N] [--documents N] [--memory SIZE] [--work FOLDER] [--keep]

BASE has the documents that the generator of planted copies (../shared/tools/plant_copies.py) starts from. Each of the
parts (7 of 1,000,000 documents: 10 GB) has a seed of its own; the parts are given to one run as files. Printed: time, peak
resident memory, the most temporary disk (the temporary folder, and open files without a name), and planted pairs
removed, judged as in dedup_speed.py by the Jaccard coefficient of \\w+ 3-grams; the run has --tokens regex, so every pair
at or above 0.8 has to go and none below. The parts are deleted at the end unless --keep is given; with it, a second run
takes them as they are."""
import argparse
import collections
import json
import pathlib
import shutil
import sys

import measured
from dedup_data import PLANTER, ROOT, plant
from dedup_peers import COGNATE, ids_of
from dedup_speed import goal, helper, machine, progress_of


def bytes_of(text):
    return int(text[:-1]) * {"M": 1 << 20, "G": 1 << 30}[text[-1]]


def make_parts(base, options):
    """Pairs of files: documents, truth. Both are complete once TRUTH.jaccard is there."""
    parts = []
    for seed in range(1, options.parts + 1):
        data, truth = options.work / f"part-{seed}.jsonl", options.work / f"part-{seed}.tsv"
        if not pathlib.Path(f"{truth}.jaccard").exists():
            plant(base, data, truth, options.documents, seed)
            helper("--judge-pairs", data, truth)
        parts.append((data, truth))
        print(f"part {seed} of {options.parts}: {data.stat().st_size / 1e6:,.0f} MB", file=sys.stderr, flush=True)
    return parts


def need_disk(folder, size, what):
    free = shutil.disk_usage(folder).free
    if free < size:
        sys.exit(f"{folder}: {what} needs about {size / 1e9:.0f} GB of disk and {free / 1e9:.0f} GB are free; free some, or "
                 "choose fewer --parts")


def judge(kept_file, parts):
    """Counts [removed, all] per kind of pair, and the documents kept."""
    kept, counts = set(ids_of(kept_file)), collections.defaultdict(lambda: [0, 0])
    for _, truth in parts:
        for line in pathlib.Path(f"{truth}.jaccard").read_text().splitlines():
            a, b, kind, similarity = line.split("\t")
            if kind != "exact":
                kind = "near at or above 0.8" if float(similarity) >= 0.8 else "near below 0.8"
            counts[kind][0] += a not in kept or b not in kept
            counts[kind][1] += 1
    return len(kept), counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=pathlib.Path)
    parser.add_argument("--parts", type=int, default=7)
    parser.add_argument("--documents", type=int, default=1_000_000, help="documents per part")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "dedup_scale")
    options = parser.parse_args()
    if not PLANTER.exists():
        return print(f"skipped: no generator of planted copies ({PLANTER.name})")
    options.work = options.work.resolve()
    temporary, kept, stats = options.work / "temporary", options.work / "kept.jsonl", options.work / "stats.json"
    temporary.mkdir(parents=True, exist_ok=True)
    need_disk(options.work, options.parts * options.documents * 1600, "making the parts")
    parts = make_parts(options.base, options)
    size = sum(data.stat().st_size for data, _ in parts)
    need_disk(options.work, 2 * size, "the run")
    print(f"{options.parts} parts of {options.documents:,} documents, {size / 1e9:.2f} GB; --memory {options.memory}, "
          f"--threads {options.threads}; {machine()}\n", flush=True)
    result = measured.run([COGNATE, "dedup", *(data for data, _ in parts), "-o", kept, "--memory", options.memory, "--threads",
                           options.threads, "--tokens", "regex", "--stats", stats], sync=[kept], limit=options.limit,
                          watch=temporary, environment={"TMPDIR": str(temporary)})
    if result["status"] == 0:
        print_result(result, size, kept, stats, parts)
        goal(f"peak memory against --memory {options.memory}", result["peak"] / bytes_of(options.memory), 1, at_least=False)
    else:
        why = f"stopped after {options.limit:.0f} s" if result["late"] else f"exit {result['status']}"
        print(f"{why} with {result['peak'] / 1e6:,.0f} MB: {progress_of(result)}")
    shutil.rmtree(temporary)
    kept.unlink(missing_ok=True)
    if not options.keep:
        shutil.rmtree(options.work)
    return result["status"] != 0


def print_result(result, size, kept, stats, parts):
    print(f"wall {result['wall']:.1f} s, CPU {result['cpu']:.1f} s, {size / 1e6 / result['wall']:.1f} MB/s, peak "
          f"{result['peak'] / 1e6:,.0f} MB, temporary disk {result['disk'] / 1e9:.2f} GB ({result['disk'] / size:.2f} of the "
          f"input)")
    predicted = json.loads(stats.read_text()).get("predicted_memory_bytes")
    documents, counts = judge(kept, parts)
    print(f"documents kept: {documents:,}")
    for kind, (removed, all_pairs) in sorted(counts.items()):
        print(f"{kind}: {removed:,} of {all_pairs:,} pairs removed")
    if predicted:
        goal("predicted memory against the use", predicted / result["peak"], 1.3, at_least=False)
    goal("temporary disk against the input", result["disk"] / size, 1, at_least=False)
    above, below = counts["near at or above 0.8"], counts["near below 0.8"]
    goal("planted pairs at or above 0.8 removed", above[0] / max(1, above[1]), 1, "of them")
    goal("planted pairs below 0.8 removed", below[0], 0, "of them", at_least=False)


if __name__ == "__main__":
    sys.exit(main())
