#!/usr/bin/env python3
"""Whether the recall that was asked for is kept, on ten collections of real documents with targets from 0.8 to 0.99.

usage: bench/search/recall_kept.py PROGRAM DATA [--kind KIND]... [--rows N] [COLLECTION...]   (DATA: the real documents)

The truth is the exact answer. Kinds of questions (default: batch):
  batch       the ten most similar documents, 1,000 queries at once; all cosines are often the fastest
  alone       the same, one query at a time (`search INDEX -`), where all cosines are rarely the fastest
  signatures  the ten nearest signatures, without documents; a named method is never replaced by a scan
  margins     the same with the margins of rows and queries
  minhash     the same of an index of minhash signatures
  radius      signatures of 64 bits within 3 bits, by psm; equal ones do not count
  pairs       pairs of documents with a cosine of 0.7 or more, by the methods of `pairs`
Queries of the first five are documents that the index does not hold. Prints one line per run and, for each kind, how many
runs are at or above the target and by how much the worst falls short, of all runs and of those that were not exact."""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

QUERIES = 1000
FEW = 100  # questions with fewer true answers in all say nothing
TARGETS = ("0.8", "0.9", "0.95", "0.99")
METHODS = {"batch": ("auto", "flat", "slices", "columns"), "alone": ("auto", "flat", "slices", "columns"),
           "signatures": ("auto", "slices", "columns"), "minhash": ("auto", "slices", "columns"), "margins": ("auto", "slices", "columns"),
           "radius": ("psm",), "pairs": ("flat", "lsh", "window")}
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


def documents(data, name, most):
    file, column, usual = COLLECTIONS[name]
    texts = lines_of(os.path.join(data, file))
    if column is None:
        texts = [json.loads(line)["text"] for line in texts]
    else:
        texts = [line.split("\t")[column] for line in texts]
    random.Random(1).shuffle(texts)
    return [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts[:most or usual])]


class Program:
    def __init__(self, path):
        self.path = path

    def run(self, *words, given=None):
        """Processor seconds of the command; None if it says that it does not serve the question."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(given or os.devnull, "rb") as file:
            done = subprocess.run([self.path, *words, "--quiet"], stdin=file, stderr=subprocess.PIPE)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode == 2:
            print(f"# {' '.join(words)}: {done.stderr.decode().strip()}", flush=True)
            return None
        if done.returncode > 1:
            sys.exit(f"{' '.join(words)}: {done.stderr.decode()}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def nearest_recall(self, found, truth):
        done = subprocess.run([self.path, "eval", "neighbours", found, truth, "--quiet"], check=True, stdout=subprocess.PIPE)
        return float(done.stdout.decode().split("recall@10\t")[1].split()[0])


def rows_of(table, by_distance):
    """The pairs of a table of hits or pairs; with by_distance those that differ."""
    with open(table, encoding="utf-8") as file:
        columns = [line.rstrip("\n").split("\t") for line in file][1:]
    if by_distance:
        return {(row[0], row[2]) for row in columns if row[4] != "0"}
    return {tuple(sorted(row[:2])) for row in columns}


class Kind:
    """One kind of question to one collection in the current folder: rows.jsonl, queries.jsonl."""

    def __init__(self, program, kind):
        self.program, self.kind = program, kind
        if kind in ("signatures", "margins", "radius"):
            how = ("--signature", "simhash", "--bits", "64") if kind == "radius" else ("--bits", "1024")
            program.run("sign", "rows.jsonl", *how, "--save-statistics", "statistics", "-o", "rows.npy", "--margins", "rows.margins")
            program.run("sign", "queries.jsonl", *how, "--statistics", "statistics", "-o", "queries.npy", "--margins", "queries.margins")
        self.queries = {"radius": "rows.npy", "signatures": "queries.npy", "margins": "queries.npy"}.get(kind, "queries.jsonl")
        self.truth = None

    def build(self, method):
        options = {"minhash": ("rows.jsonl", "--measure", "jaccard", "--no-vectors"), "signatures": ("rows.npy",),
                   "margins": ("rows.npy", "--margins", "rows.margins"),
                   "radius": ("rows.npy", "--radius", "3", "--margins", "rows.margins")}.get(self.kind, ("rows.jsonl",))
        return 0 if self.kind == "pairs" else self.program.run("index", "build", method, *options, "--method", method)

    def ask(self, method, recall, out):
        if self.kind == "pairs":
            return self.program.run("pairs", "rows.jsonl", "--threshold", "0.7", "--method", method, "--recall", recall,
                                    "-o", out, "--stats", "stats.json")
        words = ["search", method, "-" if self.kind == "alone" else self.queries, "--recall", recall, "-o", out, "--stats", "stats.json"]
        if self.kind == "radius":
            words += ["--radius", "3", "--margins", "rows.margins"]
        if self.kind == "margins":
            words += ["--margins", "queries.margins"]
        if self.kind != "alone" or method != "auto":
            words += ["--method", method]
        return self.program.run(*words, given="queries.jsonl" if self.kind == "alone" else None)

    def find_truth(self, method):
        if self.kind == "pairs":
            self.program.run("pairs", "rows.jsonl", "--threshold", "0.7", "--method", "exact", "-o", "truth.tsv")
        else:
            exact = "exact" if self.kind in ("batch", "alone") else "flat"
            radius = ("--radius", "3") if self.kind == "radius" else ("--recall", "1")
            self.program.run("search", method, self.queries, "--method", exact, *radius, "-o", "truth.tsv")
        if self.kind in ("radius", "pairs"):
            self.truth = rows_of("truth.tsv", self.kind == "radius")

    def recall(self):
        if self.truth is None:
            return self.program.nearest_recall("found.tsv", "truth.tsv")
        return len(rows_of("found.tsv", self.kind == "radius") & self.truth) / len(self.truth)


def try_collection(program, kind, name, count):
    question, runs, has_truth = Kind(program, kind), [], False
    for method in METHODS[kind]:
        build_seconds = question.build(method)
        if build_seconds is None:
            continue
        if not has_truth:
            question.find_truth(method)
            has_truth = True
        if question.truth is not None and len(question.truth) < FEW:
            print(f"# {name}: only {len(question.truth)} true answers", flush=True)
            return runs
        for target in TARGETS:
            seconds = question.ask(method, target, "found.tsv")
            if seconds is None:
                continue
            with open("stats.json", encoding="utf-8") as file:
                stats = json.load(file)
            kept, is_exact = question.recall(), stats.get("recall") == "certified exact"
            stated = stats.get("recall_at_build", stats.get("expected_recall", stats.get("recall", "-")))
            runs.append((kept - float(target), is_exact))
            print(f"{kind}\t{name}\t{count}\t{method}\t{target}\t{kept:.4f}\t{'exact' if is_exact else stated}\t{stats.get('method')}"
                  f"\t{stats.get('comparisons', 0) / QUERIES:.0f}\t{stats.get('candidates', 0) / QUERIES:.0f}"
                  f"\t{seconds:.2f}\t{build_seconds:.1f}", flush=True)
    return runs


def summary(runs):
    kept = sum(by >= 0 for by, _ in runs)
    return f"{kept} of {len(runs)} runs at or above their target; the worst is short by {max(0, -min(runs)[0]):.4f}"


def main():
    arguments = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1])
    arguments.add_argument("program")
    arguments.add_argument("data")
    arguments.add_argument("--kind", action="append", choices=METHODS)
    arguments.add_argument("--rows", type=int)
    arguments.add_argument("collections", nargs="*")
    taken = arguments.parse_intermixed_args()
    program, data = Program(os.path.abspath(taken.program)), os.path.abspath(taken.data)
    if not os.path.isdir(data):
        sys.exit(f"{data}: the real documents are not here")
    print("kind\tcollection\trows\tmethod\ttarget\trecall\tstated\tanswered by\tcomparisons / 1000\tcandidates / 1000\tCPU seconds\tof the build")
    of_kind = {kind: [] for kind in taken.kind or ["batch"]}
    with tempfile.TemporaryDirectory() as folder:
        for name in taken.collections or COLLECTIONS:
            lines = documents(data, name, taken.rows)
            for kind, runs in of_kind.items():
                own = os.path.join(folder, f"{name}.{kind}")
                os.mkdir(own)
                os.chdir(own)
                for part, rows in (("queries.jsonl", lines[:QUERIES]), ("rows.jsonl", lines[QUERIES:])):
                    with open(part, "w", encoding="utf-8") as file:
                        file.write("\n".join(rows) + "\n")
                runs += try_collection(program, kind, name, len(lines) - QUERIES)
                os.chdir(folder)
                subprocess.run(["rm", "-r", own], check=True)
        os.chdir("/")
    for kind, runs in of_kind.items():
        approximate = [run for run in runs if not run[1]]
        if runs:
            print(f"{kind}: {summary(runs)}")
        if approximate:
            print(f"{kind}, not answered exactly: {summary(approximate)}")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{usage.ru_utime + usage.ru_stime:.0f} CPU seconds in all")


main()
