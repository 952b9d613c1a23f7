#!/usr/bin/env python3
"""Deduplication from file to file, cognate and its peers in one run on one machine: time, memory, and what they removed.

    dedup_speed.py DATA.jsonl [TRUTH.tsv] [--repeat N] [--limit SECONDS] [--first N] [--only NAME...] [--work FOLDER]

bench/dedup/dedup_data.py makes both files. DATA is in the page cache before each run; the clock stops when the output is on the disk. Each run is a process of its
own (bench/dedup/measured.py). The table has medians of --repeat runs.

TRUTH has lines "id TAB id TAB exact|near" (planted copies). A pair counts as removed if the output lacks one of the two.
Near pairs are judged by their Jaccard coefficient of \\w+ 3-grams of lower-cased text, computed once and stored next to
TRUTH as TRUTH.jaccard.

A run of a peer that takes more than --limit seconds is stopped and reported with its progress. --first N gives slow peers
(datasketch, text-dedup, find-simdoc) the first N documents only; their speed is then per MB of that part."""
import argparse
import collections
import json
import pathlib
import platform
import statistics
import subprocess
import sys

import measured
from dedup_peers import PEERS, SETTINGS, Cognate, Unavailable, grams, ids_of

THRESHOLD = SETTINGS["threshold"]
COMPARABLE = 0.9  # pair recall of a peer of comparable quality
OURS = [Cognate("cognate, 2 threads", "--threads", "2"),
        Cognate("cognate, 1 thread", "--threads", "1"),
        Cognate("cognate, --memory 300M", "--threads", "2", "--memory", "300M"),
        Cognate("cognate, --tokens regex", "--threads", "2", "--tokens", "regex")]
GOALS = {"gaoya": 10, "rensa": 10, "gaoya crate": 10, "find-simdoc crate": 10, "datasketch": 50, "text-dedup": 50}


# ---- Truth ------------------------------------------------------------------------------------------------------------


def judge_pairs(data, truth):
    """Writes TRUTH.jaccard: the lines of TRUTH with the pair's Jaccard coefficient instead of its kind."""
    pairs = [line.split("\t") for line in truth.read_text().splitlines()]
    wanted = {name for a, b, _ in pairs for name in (a, b)}
    texts = {}
    with open(data, encoding="utf-8") as file:
        for name, line in zip(ids_of(data), file):
            if name in wanted:
                texts[name] = json.loads(line)["text"]
    with open(f"{truth}.jaccard.part", "w") as out:
        for a, b, kind in pairs:
            if a in texts and b in texts:
                x, y = grams(texts[a], 3), grams(texts[b], 3)
                out.write(f"{a}\t{b}\t{kind}\t{len(x & y) / len(x | y):.9f}\n")
    pathlib.Path(f"{truth}.jaccard.part").rename(f"{truth}.jaccard")


def judge_output(output, truth, documents):
    """Prints, as JSON, the documents kept and per kind of pair [removed, all]. Pairs whose ids are not both among the
    first `documents` of the data are left out: `documents` is a file with those."""
    kept, given = set(ids_of(output)), set(ids_of(documents))
    counts = collections.defaultdict(lambda: [0, 0])
    if truth:
        for line in pathlib.Path(f"{truth}.jaccard").read_text().splitlines():
            a, b, kind, similarity = line.split("\t")
            if a in given and b in given:
                if kind != "exact":
                    kind = "above" if float(similarity) >= THRESHOLD else "below"
                counts[kind][0] += a not in kept or b not in kept
                counts[kind][1] += 1
    print(json.dumps({"kept": len(kept), "documents": len(given), **counts}))


def helper(*words):
    """This script in a process of its own, which may grow."""
    return subprocess.run([sys.executable, __file__, *map(str, words)], stdout=subprocess.PIPE, text=True, check=True).stdout


# ---- Runs -------------------------------------------------------------------------------------------------------------


def first_documents(data, count, work):
    """A file with the first documents of the data; the data itself if it has no more."""
    part = work / f"first-{count}.jsonl"
    with open(data, "rb") as file, open(part, "wb") as out:
        for _, line in zip(range(count), file):
            out.write(line)
        if not file.read(1):
            part.unlink()
            return data
    return part


def progress_of(result):
    lines = [line.strip() for line in result["error"].replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1][:200] if lines else "nothing printed"


def run_system(system, data, options, work):
    """A row of the table: a dict with at least name and text, if there are no figures."""
    row = {"name": system.name, "settings": system.settings_text({}), "data": data}
    try:
        system.prepare()
    except Unavailable as problem:
        return {**row, "text": f"not run: {problem}"}
    row["version"] = system.version()
    output, results = work / "kept.jsonl", []
    for _ in range(options.repeat):
        measured.warm(data)
        result = system.run(data, output, limit=options.limit)
        if result["late"]:
            return {**row, "text": f"stopped after {options.limit} s at: {progress_of(result)}"}
        if result["status"]:
            return {**row, "text": f"exit {result['status']}: {progress_of(result)}"}
        results.append(result)
    for key in "wall", "cpu", "peak":
        row[key] = statistics.median(result[key] for result in results)
    row["spread"] = max(result["wall"] for result in results) - min(result["wall"] for result in results)
    row["speed"] = data.stat().st_size / row["wall"]
    row.update(json.loads(helper("--judge-output", output, options.truth or "-", data)))
    output.unlink()
    return row


def share(row, kind):
    removed, all_pairs = row.get(kind, (0, 0))
    return removed / all_pairs if all_pairs else None


# ---- Tables -----------------------------------------------------------------------------------------------------------

HEADS = ("", "version", "documents", "wall s", "CPU s", "peak MB", "MB/s", "kept", "near >= 0.8 removed", "near < 0.8 removed",
         "exact removed")


def cells(row):
    start = [row["name"], row.get("version", "")]
    if "text" in row:
        return start + [row["text"]]
    shares = [f"{share(row, kind):.4f} of {row[kind][1]:,}" if share(row, kind) is not None else ""
              for kind in ("above", "below", "exact")]
    spread = f" ±{row['spread'] / 2:.1f}" if row["spread"] else ""
    return start + [f"{row['documents']:,}", f"{row['wall']:.1f}{spread}", f"{row['cpu']:.1f}", f"{row['peak'] / 1e6:,.0f}",
                    f"{row['speed'] / 1e6:.1f}", f"{row['kept']:,}", *shares]


def print_table(rows):
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    for row in rows:
        print("| " + " | ".join(cells(row)) + " |")
    print("\nSettings: " + "; ".join(f"{row['name']}: {row['settings']}" for row in rows if row["settings"]))


def goal(text, value, bound, unit="times", at_least=True):
    met = value >= bound if at_least else value <= bound
    print(f"goal: {text}, {bound} {unit} or {'more' if at_least else 'less'}: {'met' if met else 'missed'} ({value:.2f})")


def print_goals(rows):
    figures = {row["name"]: row for row in rows if "text" not in row}
    two = figures.get(OURS[0].name)
    if not two:
        return print("goals: not judged, cognate did not run")
    goal("speed on two cores", two["speed"] / 1e6, 200, "MB/s")
    if one := figures.get(OURS[1].name):
        goal("two threads against one", one["wall"] / two["wall"], 1.8)
    if little := figures.get(OURS[2].name):
        goal("time within 300 MB against time without a limit", little["wall"] / two["wall"], 1.5, at_least=False)
        goal("peak memory against --memory 300M", little["peak"] / (300 << 20), 1, at_least=False)
    for name, bound in GOALS.items():
        if row := figures.get(name):
            recall = share(row, "above")
            quality = "quality unknown" if recall is None else f"its pair recall is {recall:.3f}"
            goal(f"MB/s against {name} ({quality})", two["speed"] / row["speed"], bound)
    comparable = [row for row in figures.values() if row["name"] in GOALS and (share(row, "above") or 0) >= COMPARABLE]
    if comparable:
        best = max(comparable, key=lambda row: row["speed"])
        goal(f"MB/s against the fastest peer with pair recall of {COMPARABLE} or more, {best['name']}",
             two["speed"] / best["speed"], 10)
    if rensa := figures.get("rensa"):
        goal("peak memory without a limit against rensa's", two["peak"] / rensa["peak"], 1, at_least=False)


def machine():
    model = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    return f"{model[0].partition(': ')[2] if model else platform.machine()}, {platform.release()}, load before the run {load}"


def main():
    if sys.argv[1:2] == ["--judge-pairs"]:
        return judge_pairs(*map(pathlib.Path, sys.argv[2:]))
    if sys.argv[1:2] == ["--judge-output"]:
        return judge_output(sys.argv[2], None if sys.argv[3] == "-" else sys.argv[3], sys.argv[4])
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("truth", type=pathlib.Path, nargs="?")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--first", type=int)
    parser.add_argument("--only", nargs="*", help="rows whose names contain one of these words")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/dedup_speed"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.truth and not pathlib.Path(f"{options.truth}.jaccard").exists():
        helper("--judge-pairs", options.data, options.truth)
    part = first_documents(options.data, options.first, options.work) if options.first else options.data
    print(f"{options.data.name}: {options.data.stat().st_size / 1e6:,.0f} MB; threshold {THRESHOLD}; medians of "
          f"{options.repeat}; {machine()}\n", flush=True)
    rows = []
    for system in OURS + PEERS:
        if options.only is None or any(word in system.name for word in options.only):
            rows.append(run_system(system, part if system.slow else options.data, options, options.work))
            print("done:", *cells(rows[-1]), sep="\t", file=sys.stderr, flush=True)
    print_table(rows)
    print()
    print_goals(rows)
    if part != options.data:
        part.unlink()


if __name__ == "__main__":
    main()
