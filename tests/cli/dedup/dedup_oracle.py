#!/usr/bin/env python3
"""Recomputes what dedup keeps: sets of word 3-grams as Python's \\w+ finds them, compared one by one.

usage: dedup_oracle.py PROGRAM FILE.jsonl THRESHOLD MEASURE...

Runs `PROGRAM dedup FILE --tokens regex` by each measure (jaccard, containment) and compares the kept documents and every
line of the clusters with a greedy pass: documents by falling length of their text, then position; a document goes
for the first one before it that stays and is at or above the threshold. A pair with a text of at most 10 words is
compared by words, with how often each has come before; texts of more than 20 words have no such words. A text of at most 3
words is one word of its own.
"""
import json
import subprocess
import sys
from collections import defaultdict

from set_oracle import printed, sets_of, similarity

def greedy(texts, threshold, containment):
    """For each document the one that stays for it, and their similarity."""
    sets = [sets_of(text, not containment) for text in texts]
    # Equal documents are one; the longest of them, or the first, stays for the others.
    best = {}
    for i, text in enumerate(texts):
        key = sets[i] if sets[i][0] or sets[i][1] else text
        if key not in best or len(text.encode()) > len(texts[best[key]].encode()):
            best[key] = i
    leaders = sorted(best.values(), key=lambda i: (-len(sets[i][0]) if containment else 0,
                                                   -len(texts[i].encode()), i))
    twin, having = {}, defaultdict(list)
    for rank, i in enumerate(leaders):
        met = set()
        for member in (*sets[i][0], *sets[i][1]):
            met.update(having[member])
        twin[i] = (i, 1.0)
        for other in sorted(met):
            value = similarity(sets[leaders[other]], sets[i], containment)
            if value >= threshold:
                twin[i] = (leaders[other], value)
                break
        else:
            for member in (*sets[i][0], *sets[i][1]):
                having[member].append(rank)
    return [twin[best[sets[i] if sets[i][0] or sets[i][1] else texts[i]]] for i in range(len(texts))]


def found(program, path, threshold, measure):
    """The ids that are kept, and the lines of the clusters without their numbers."""
    arguments = ["--tokens", "regex", "--threshold", str(threshold), "--measure", measure, "--quiet"]
    kept = subprocess.run([program, "dedup", path, "-o", "-", *arguments], check=True, capture_output=True).stdout
    rows = subprocess.run([program, "dedup", path, "--clusters", "-", *arguments], check=True,
                          capture_output=True, text=True).stdout
    clusters = [line.split("\t")[1:] for line in rows.splitlines()[1:]]
    return [json.loads(line)["id"] for line in kept.splitlines()], clusters


def main():
    program, path, threshold = sys.argv[1], sys.argv[2], float(sys.argv[3])
    records = [json.loads(line) for line in open(path, encoding="utf-8")]
    ids, texts = [record["id"] for record in records], [record["text"] for record in records]
    wrong = 0
    for measure in sys.argv[4:]:
        twins = greedy(texts, threshold, measure == "containment")
        kept, clusters = found(program, path, threshold, measure)
        expected = [ids[i] for i, (twin, _) in enumerate(twins) if twin == i]
        sizes = defaultdict(int)
        for twin, _ in twins:
            sizes[twin] += 1
        lines = sorted([ids[i], ids[twin], printed(value), str(int(i == twin))]
                       for i, (twin, value) in enumerate(twins) if sizes[twin] > 1)
        wrong += kept != expected
        for line in [line for line in sorted(clusters) if line not in lines][:3]:
            print(f"{measure}: unexpected {line}")
        for line in [line for line in lines if line not in clusters][:3]:
            print(f"{measure}: missing {line}")
        wrong += sorted(clusters) != lines
        print(f"{measure} {threshold}: {'equal' if kept == expected and sorted(clusters) == lines else 'different'}")
        print(f"{path} {measure}: {len(ids)} documents, {len(kept)} kept", file=sys.stderr)
    return wrong > 0


sys.exit(main())
