#!/usr/bin/env python3
"""Recomputes all pairs by Jaccard and containment: sets of word 3-grams as Python's \\w+ finds them, one by one.

usage: pairs_oracle.py PROGRAM A.jsonl [B.jsonl]

Runs `PROGRAM pairs A [--against B] --tokens regex` by each measure and threshold and compares every byte of the table.
Each run has other threads and another memory budget. A document whose id was used before in its file is left out.
"""
import json
import subprocess
import sys
from collections import defaultdict

from set_oracle import printed, sets_of, similarity

THRESHOLDS = [0.1, 0.2, 1 / 3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1]
RUNS = [["--threads", "1"], ["--threads", "2", "--memory", "51M"], ["--threads", "5", "--memory", "60M"]]


def read(path, short_texts):
    ids, sets = [], []
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if record["id"] not in ids:
            ids.append(record["id"])
            sets.append(sets_of(record["text"], short_texts))
    return ids, sets


def similarities(a, b, containment):
    """(row, row, similarity) of all pairs of a and b that share anything, sorted; b None: inside a."""
    having, found = defaultdict(list), []
    for j, sets in enumerate(a if b is None else b):
        for member in (*sets[0], *sets[1]):
            having[member].append(j)
    for i, sets in enumerate(a):
        met = set()
        for member in (*sets[0], *sets[1]):
            met.update(having[member])
        found += [(i, j, similarity(sets, (a if b is None else b)[j], containment))
                  for j in sorted(met) if b is not None or i < j]
    return found


def main():
    program, paths = sys.argv[1], sys.argv[2:]
    runs = 0
    for measure in ["jaccard", "containment"]:
        sides = [read(path, measure == "jaccard") for path in paths]
        (ids, sets), (other_ids, other_sets) = sides[0], sides[1] if paths[1:] else (sides[0][0], None)
        truth = similarities(sets, other_sets, measure == "containment")
        for threshold in THRESHOLDS:
            lines = [f"{ids[i]}\t{other_ids[j]}\t{printed(value)}\t-" for i, j, value in truth if value >= threshold]
            expected = "\n".join(["a\tb\tsimilarity\tdistance", *lines, ""])
            against = ["--against", paths[1]] if paths[1:] else []
            found = subprocess.run([program, "pairs", paths[0], *against, "--tokens", "regex", "--threshold",
                                    repr(threshold), "--measure", measure, "--quiet", *RUNS[runs % len(RUNS)]],
                                   capture_output=True, text=True)
            runs += 1
            same = found.returncode == (0 if lines else 1) and found.stdout == expected
            print(f"{measure} {threshold:.2f}: {'equal' if same else 'different'}")
            print(f"{' '.join(paths)} {measure} {threshold}: {len(lines)} pairs", file=sys.stderr)
            if not same:
                print(found.stderr, len(found.stdout.splitlines()) - 1, "lines instead of", len(lines))


main()
