#!/usr/bin/env python3
"""Recomputes what dedup decides: sets of word 3-grams as Python's \\w+ finds them, compared one by one.

usage: dedup_oracle.py PROGRAM FILE.jsonl THRESHOLD MEASURE...   the file, by each measure (jaccard, containment)
       dedup_oracle.py PROGRAM --random CASES SEED               small collections, with random options

Compares kept documents, clusters and removed documents of `PROGRAM dedup --tokens regex` with a greedy pass: documents in
the order of --keep (containment: larger sets first); a document goes for the first one before it that stays and is at or
above the threshold. set_oracle.py says how short texts are compared. With --grouping connected, components of the graph
of near documents; with --against, the first near document of the reference collection, which is files or an index.
"""
import itertools
import json
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from typing import NamedTuple

import set_oracle
from set_oracle import printed, sets_of, similarity


class Question(NamedTuple):
    threshold: float
    measure: str
    keep: str = "longest"
    grouping: str = "representative"

    def options(self):
        return ["--tokens", "regex", "--threshold", repr(self.threshold), "--measure", self.measure, "--keep", self.keep,
                "--grouping", self.grouping, "--quiet"]


def read(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def write(path, records):
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)


# ---- The decision ------------------------------------------------------------------------------------------------------


def rank_of(records, row, keep):
    """Documents of a greater rank are kept."""
    if keep == "longest":
        return len(records[row]["text"].encode())
    if keep in ("first", "last"):
        return row if keep == "last" else 0
    score = records[row].get("score")
    return float("-inf") if score is None else -score if keep.endswith(":min") else score


class Sets:
    """The sets of documents, and which of them are equal: in their sets, without terms in their bytes."""

    def __init__(self, records, measure):
        self.containment = measure == "containment"
        self.sets = [sets_of(record["text"], not self.containment) for record in records]
        self.keys = [a if any(a) else record["text"] for a, record in zip(self.sets, records)]

    def members(self, row):
        return (*self.sets[row][0], *self.sets[row][1])

    def similarity(self, row, other, others=None):
        return similarity(self.sets[row], (others or self).sets[other], self.containment)


def representatives(order, sets, threshold):
    """For each row of the order the one that stays for it."""
    twin, having = {}, defaultdict(list)
    for row in order:
        met = sorted({place for member in sets.members(row) for place in having[member]})
        near = (order[place] for place in met if sets.similarity(row, order[place]) >= threshold)
        twin[row] = next(near, row)
        if twin[row] == row:
            for member in sets.members(row):
                having[member].append(order.index(row))
    return twin


def components(order, sets, threshold):
    """For each row of the order the first one that chains of near documents lead to."""
    twin = {row: row for row in order}
    for row, other in itertools.combinations(order, 2):
        if twin[row] != twin[other] and sets.similarity(row, other) >= threshold:
            first, second = sorted((twin[row], twin[other]), key=order.index)
            twin.update((member, first) for member in order if twin[member] == second)
    return twin


def decide(records, question):
    """For each document the row that stays for it, the similarity to it, and the reason."""
    sets = Sets(records, question.measure)
    ranks = [rank_of(records, row, question.keep) for row in range(len(records))]
    best = {}
    for row, key in enumerate(sets.keys):
        if key not in best or ranks[row] > ranks[best[key]]:
            best[key] = row
    order = sorted(best.values(), key=lambda row: (-len(sets.sets[row][0]) if sets.containment else 0, -ranks[row], row))
    group = components if question.grouping == "connected" else representatives
    twins = group(order, sets, question.threshold)
    decisions = []
    for row, key in enumerate(sets.keys):
        leader = best[key]
        twin = twins[leader]
        value = 1.0 if twin == leader else sets.similarity(leader, twin)
        reason = ("kept" if row == twin else "identical" if leader == twin else
                  "near" if value >= question.threshold else "chain")
        decisions.append((twin, value, reason))
    return decisions


def decide_against(records, reference, question):
    """The same; the row that stays is one of the reference collection, None if the document stays."""
    sets, others = Sets(records, question.measure), Sets(reference, question.measure)
    decisions = []
    for row, key in enumerate(sets.keys):
        values = {other: sets.similarity(row, other, others) for other in range(len(reference))}
        near = [other for other in values if values[other] >= question.threshold]
        if key in others.keys:
            decisions.append((others.keys.index(key), 1.0, "identical"))
        else:
            decisions.append((near[0], values[near[0]], "near") if near else (None, 1.0, "kept"))
    return decisions


# ---- The comparison ----------------------------------------------------------------------------------------------------


def table(path):
    return [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")][1:]


def expected(records, decisions, reference):
    """Kept documents, rows of --removed, and rows of --clusters without their numbers."""
    name = lambda twin: (records if reference is None else reference)[twin]["id"]
    sizes = Counter(twin for twin, _, _ in decisions)
    kept = [record for record, decision in zip(records, decisions) if decision[2] == "kept"]
    removed, clusters = [], []
    for record, (twin, value, reason) in zip(records, decisions):
        if reason != "kept":
            removed.append([record["id"], name(twin), printed(value), reason])
        if reason != "kept" or (reference is None and sizes[twin] > 1):
            clusters.append([record["id"], name(twin), printed(value), str(int(reason == "kept"))])
    return kept, removed, sorted(clusters)


def differences(program, inputs, records, question, more=(), reference=None):
    """Up to three differences of each output."""
    command = [program, "dedup", *inputs, "-o", "kept.jsonl", "--removed", "removed.tsv", "--clusters", "clusters.tsv",
               *question.options(), *more]
    subprocess.run(command, check=True)
    decisions = decide(records, question) if reference is None else decide_against(records, reference, question)
    found = read("kept.jsonl"), table("removed.tsv"), sorted(row[1:] for row in table("clusters.tsv"))
    lines = []
    for name, here, wanted in zip(("kept", "removed", "clusters"), found, expected(records, decisions, reference)):
        lines += [f"{name}: unexpected {row}" for row in here if row not in wanted][:3]
        lines += [f"{name}: missing {row}" for row in wanted if row not in here][:3]
        lines += [f"{name}: another order"] if here != wanted and sorted(map(str, here)) == sorted(map(str, wanted)) else []
    return lines and [" ".join(map(str, command)), *lines]


# ---- Random collections and options ------------------------------------------------------------------------------------


def some_records(draw):
    """Families of near-copies, some without words, ids that repeat, and scores that some documents lack."""
    set_oracle.make("made.jsonl", draw.choice((10, 40, 120)), draw.random())
    records = read("made.jsonl")
    for record in records:
        if draw.random() < 0.05:
            record["text"] = draw.choice(("", "...", "?!"))
        if draw.random() < 0.05:
            record["id"] = draw.choice(records)["id"]
        if draw.random() < 0.8:
            record["score"] = draw.choice((draw.randrange(-3, 4), round(draw.random(), 2)))
    records[0]["score"] = 0
    return records


def some_threshold(draw):
    return draw.choice((0.05, 0.2, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1, round(draw.uniform(0.1, 1), 3)))


def some_run(draw):
    run = ["--threads", str(draw.choice((1, 2, 3)))]
    return run + draw.choice(([], ["--memory", "50M"], ["--report", "report.html"]))


def some_reference(program, draw, records, measure):
    """Takes some records as a reference collection: its records, and the option."""
    count = draw.randrange(1, len(records))
    reference, records[:] = records[:count], records[count:]
    if draw.random() < 0.5:
        write("reference.jsonl", reference)
        return reference, ["--against", "reference.jsonl"]
    for row, record in enumerate(reference):
        record["id"] = f"r{row}"  # an index has no two documents of one id
    write("reference.jsonl", reference)
    shutil.rmtree("index", ignore_errors=True)
    subprocess.run([program, "index", "build", "index", "reference.jsonl", "--measure", measure, "--tokens", "regex", "--quiet"],
                   check=True)
    return reference, ["--against", "index"]


def random_case(program, draw):
    records, reference, against = some_records(draw), None, []
    keeps = ("longest", "first", "last", "field:score", "field:score:min")
    groupings = ("representative", "connected")
    measure = draw.choice(("jaccard", "jaccard", "containment"))
    if draw.random() < 0.5:
        reference, against = some_reference(program, draw, records, measure)
        keeps, groupings = ("longest",), ("representative",)
    cut = draw.randrange(len(records) + 1)
    write("one.jsonl", records[:cut])
    write("two.jsonl", records[cut:])
    shutil.rmtree("work", ignore_errors=True)
    lines, has_folder = [], draw.random() < 0.5
    for turn in range(3 if has_folder else 1):
        work = ["--work", "work", *(["--resume"] if turn else [])] if has_folder else []
        question = Question(some_threshold(draw), measure, draw.choice(keeps), draw.choice(groupings))
        lines += differences(program, ["one.jsonl", "two.jsonl"], records, question, [*against, *work, *some_run(draw)], reference)
    return lines


def random_cases(program, cases, seed):
    wrong = []
    for case in range(seed, seed + cases):
        wrong += random_case(program, random.Random(case))
    print("\n".join(wrong[:40]) or f"{cases} random collections: equal")
    return bool(wrong)


def main():
    program, path = sys.argv[1:3]
    if path == "--random":
        return random_cases(program, int(sys.argv[3]), int(sys.argv[4]))
    records, wrong = read(path), False
    for measure in sys.argv[4:]:
        question = Question(float(sys.argv[3]), measure)
        lines = differences(program, [path], records, question)
        print(f"{measure} {question.threshold}: {'different' if lines else 'equal'}", *lines, sep="\n")
        print(f"{path} {measure}: {len(records)} documents, {len(read('kept.jsonl'))} kept", file=sys.stderr)
        wrong |= bool(lines)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
