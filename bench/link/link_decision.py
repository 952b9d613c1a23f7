"""The decision of `cognate link`: true against stated precision, and recall against the best that a threshold reaches.

usage: link_decision.py DATA_FOLDER WORK_FOLDER [NAME...] [--seeds N] [--one-to-one] [--csv FILE]

Takes the collections and lexicons of link_data.py (made in WORK_FOLDER where they are missing), removes 0, 50 and 90% of
the partners, links at the default precision, and prints one line per run. "to" removes target documents, "both" removes
target documents of every other pair and source documents of the rest. A run passes if its true precision is 0.97 or more
(P), the stated one is within 0.02 of it (S), and its recall is at least 0.95 of the highest that any threshold (on the
probability with the score for ties, on the score, or on the cosine) reaches at a true precision of 0.98 (R). Runs with fewer than 200 right links are shown and not counted.
"""
import argparse
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import link_data

RUNS = [("dev", "de"), ("dev", "de-parliament"), ("dev", "de-words"), ("mdn", "de"), ("mdn", "de-parliament"),
        ("europarl", "de"), ("europarl", "de-messages"), ("europarl", "de-words"), ("pages-fr", "fr"),
        ("pages-fr", "fr-words"), ("pages-es", "es"), ("pages-pl", "pl"), ("packages-fr", "fr"),
        ("packages-fr", "fr-words"), ("packages-es", "es"), ("packages-pl", "pl")]
REMOVED = [(0, "to"), (50, "to"), (50, "both"), (90, "to"), (90, "both")]


def remove(source, target, percent, sides, seed):
    """Writes the set without the partners of this percentage of its known links."""
    gold = [tuple(line.split("\t")[:2]) for line in (source / "gold.tsv").read_text().splitlines()]
    gone = random.Random(seed).sample(gold, len(gold) * percent // 100)
    dropped = ({pair[0] for pair in gone[1::2]} if sides == "both" else set(),
               {pair[1] for pair in (gone[::2] if sides == "both" else gone)})
    for name, ids in zip(("from", "to"), dropped):
        with open(source / f"{name}.jsonl") as documents, open(target / f"{name}.jsonl", "w") as out:
            out.writelines(line for line in documents if json.loads(line)["id"] not in ids)
    return set(gold) - set(gone)


def link(folder, lexicon, *options):
    """The links as (from, to, cosine, score, probability), and the report."""
    command = [link_data.COGNATE, "link", "--from", folder / "from.jsonl", "--to", folder / "to.jsonl", "--lexicon", lexicon,
               "-o", folder / "links.tsv", "--stats", folder / "stats.json", "--quiet", *options]
    subprocess.run([str(word) for word in command], check=False, capture_output=True)
    with open(folder / "links.tsv") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    numbers = ("similarity", "score", "probability")
    return [(row["from"], row["to"], *(float(row[name]) for name in numbers)) for row in rows], json.load(open(folder / "stats.json"))


def best_recall(links, gold, key, precision=0.98):
    """The highest recall that a threshold on the key reaches at a precision."""
    right = best = 0
    links = sorted(links, key=key, reverse=True)
    for count, row in enumerate(links, 1):
        right += row[:2] in gold
        if right >= precision * count and (count == len(links) or key(links[count]) < key(row)):
            best = right
    return best / max(len(gold), 1)


def measure(folder, lexicon, gold, one_to_one):
    options = ["--one-to-one"] if one_to_one else []
    kept, stats = link(folder, lexicon, *options)
    every, _ = link(folder, lexicon, "--threshold", "-1", *options)
    right = sum(row[:2] in gold for row in kept)
    precision = right / len(kept) if kept else None
    stated = stats.get("expected_precision")
    keys = (lambda row: (row[4], row[3]), lambda row: row[3], lambda row: row[2])
    recall, best = right / len(gold), max(best_recall(every, gold, key) for key in keys)
    failed = ""
    if kept:
        failed += "P" * (precision < 0.97) + "S" * (abs(stated - precision) > 0.02)
    failed += "R" * (recall < 0.95 * best)
    return {"right": len(gold), "links": len(kept), "precision": precision, "stated": stated,
            "stated_low": stats.get("expected_precision_low"), "stated_high": stats.get("expected_precision_high"),
            "recall": recall, "stated_recall": stats.get("expected_recall"), "best_recall": best, "failed": failed}


def text(value):
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("work")
    parser.add_argument("names", nargs="*", help="sets, all if none is given")
    parser.add_argument("--seeds", type=int, default=1, help="repeat each removal with this number of seeds")
    parser.add_argument("--one-to-one", action="store_true")
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work).resolve()
    link_data.prepare(pathlib.Path(arguments.data).resolve(), work)
    results = []
    columns = ["set", "lexicon", "removed", "right", "links", "precision", "stated", "recall", "stated_recall",
               "best_recall", "failed"]
    print(*columns, sep="\t")
    for name, lexicon in RUNS:
        if not (work / name).exists() or (arguments.names and name not in arguments.names):
            continue
        for percent, sides in REMOVED:
            for seed in range(1, 1 + (arguments.seeds if percent else 1)):
                with tempfile.TemporaryDirectory(dir=work) as folder:
                    folder = pathlib.Path(folder)
                    gold = remove(work / name, folder, percent, sides, seed)
                    row = {"set": name, "lexicon": lexicon, "removed": f"{percent}% {sides}" if percent else "0%"}
                    row.update(measure(folder, work / f"{lexicon}.lex", gold, arguments.one_to_one))
                    results.append(row)
                    print(*(text(row[column]) for column in columns), sep="\t", flush=True)
    counted = [row for row in results if row["right"] >= 200]
    passed = sum(not row["failed"] for row in counted)
    failures = {letter: sum(letter in row["failed"] for row in counted) for letter in "PSR"}
    print(f"{passed} of {len(counted)} runs with 200 right links or more pass; failures: {failures}")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            writer = csv.DictWriter(out, results[0])
            writer.writeheader()
            writer.writerows(results)


if __name__ == "__main__":
    sys.exit(main())
