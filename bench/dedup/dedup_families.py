#!/usr/bin/env python3
"""Families of near-duplicates: time and memory of `cognate dedup` as the documents double.

    dedup_families.py [--most N] [--most-above N] [--memory SIZE] [--limit SECONDS] [--work FOLDER]

All documents of the one family share 180 of their 200 words; the other 20 are their own, so that the Jaccard coefficient
of any two is 178 / 218 = 0.8165. Three tables, each from 20,000 documents on:
- threshold 0.81, which they reach, to --most (1,280,000): all but one go, time and memory should grow linearly;
- threshold 0.83, just above, to --most-above (80,000): all stay (two that happen to begin with the same word of their
  own have 179 / 217 = 0.8249);
- templates: the 20 words are drawn from 20, so that they too occur in many documents and no rare n-gram tells two pages
  apart; threshold 0.87, to --most-above: nearly all stay after many comparisons. The time grows faster than the
  documents, memory stays within --memory (2G).
The growth exponent is the logarithm to base 2 of the ratio to the row above (1: linear, 2: quadratic). A run is stopped
after --limit seconds, and larger ones are left out."""
import argparse
import json
import math
import pathlib
import random

import measured
from dedup_data import ROOT
from dedup_peers import COGNATE
from dedup_speed import machine, progress_of

LEAST = 20_000


def write_family(path, count, vocabulary):
    """180 words that all share, 20 that are drawn from a vocabulary of that size."""
    draw = random.Random(1)
    shared = " ".join(f"w{number}" for number in draw.sample(range(50_000), 180))
    with open(path, "w") as out:
        for row in range(count):
            own = " ".join(f"o{draw.randrange(vocabulary)}" for _ in range(20))
            out.write(f'{{"id": "{row}", "text": "{shared} {own}"}}\n')


def measure(count, vocabulary, threshold, options):
    data, kept, stats = (options.work / name for name in ("family.jsonl", "kept.jsonl", "stats.json"))
    write_family(data, count, vocabulary)
    measured.warm(data)
    kept.unlink(missing_ok=True)
    memory = ["--memory", options.memory] if options.memory else []
    result = measured.run([COGNATE, "dedup", data, "-o", kept, "--threshold", threshold, "--stats", stats, "--quiet", *memory],
                          sync=[kept], limit=options.limit, watch=options.work / "temporary",
                          environment={"TMPDIR": str(options.work / "temporary")})
    if result["status"] == 0:
        with open(kept, "rb") as file:
            result["kept"] = sum(1 for _ in file)
        result["comparisons"] = json.loads(stats.read_text()).get("comparisons")
        kept.unlink()
    data.unlink()
    return result


def exponent(result, before, key):
    if not before or not before[key]:
        return ""
    return f"{math.log2(result[key] / before[key]):.2f}"


def print_growth(title, threshold, vocabulary, most, expected, options):
    """A table. `expected`: how many documents of `count` should be kept; None if that is open."""
    print(f"\n{title}, threshold {threshold}, --memory {options.memory or 'unlimited'}:\n")
    heads = ("documents", "wall s", "exponent", "CPU s", "exponent", "peak MB", "exponent", "temporary MB", "comparisons",
             "kept")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    before, count, good = None, LEAST, True
    while count <= most:
        result = measure(count, vocabulary, threshold, options)
        if result["late"] or result["status"]:
            reason = f"more than {options.limit:.0f} s" if result["late"] else f"exit {result['status']}: {progress_of(result)}"
            print(f"| {count:,} | {reason} (peak {result['peak'] / 1e6:,.0f} MB) |", flush=True)
            break
        shown = result["comparisons"]
        print(f"| {count:,} | {result['wall']:.2f} | {exponent(result, before, 'wall')} | {result['cpu']:.2f} | "
              f"{exponent(result, before, 'cpu')} | {result['peak'] / 1e6:,.0f} | {exponent(result, before, 'peak')} | "
              f"{result['disk'] / 1e6:,.0f} | {'' if shown is None else format(shown, ',')} | {result['kept']:,} |", flush=True)
        good &= expected is None or result["kept"] == expected(count)
        before, count = result, 2 * count
    if before and expected:
        print("documents kept: " + ("as they should be" if good else "WRONG"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=1_280_000)
    parser.add_argument("--most-above", type=int, default=80_000)
    parser.add_argument("--memory", default="2G", help="an empty string: no limit")
    parser.add_argument("--limit", type=float, default=1800)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "dedup_families")
    options = parser.parse_args()
    options.work = options.work.resolve()
    (options.work / "temporary").mkdir(parents=True, exist_ok=True)
    print(machine())
    print_growth("one family, reached", "0.81", 10 ** 9, options.most, lambda count: 1, options)
    print_growth("one family, just above", "0.83", 10 ** 9, options.most_above, lambda count: count, options)
    print_growth("templates", "0.87", 20, options.most_above, None, options)


if __name__ == "__main__":
    main()
