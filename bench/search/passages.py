#!/usr/bin/env python3
"""Passages of 50 words from all sets of a folder of documents, signed to 1024 bits by cognate.

    passages.py DATA OUT [--rows N] [--queries N] [--random-order]

Every text of DATA is cut into passages of 50 words: documents from their beginning, sentences of one language joined
in their order. A passage begins every 50 words (no overlap) where that makes enough of them, else every 40, 33, 25,
20 or 10; the rest of a text that is shorter than a passage is left out. Rows and queries are drawn at random with a
fixed seed, so no query is a row; as many rows are queries too. Rows stand in the order of the texts, so neighbours in
the file are often near, or with --random-order in none. OUT then has rows.npy, queries.npy, stored.npy
(uint8), queries_weights.npy and stored_weights.npy (float32), all by `cognate sign` with the statistics of the rows.
Takes about a minute of processor time, 0.6 GB of disk and 5 GB of memory."""
import argparse
import json
import pathlib
import random
import subprocess
import sys

WORDS = 50
STEPS = (50, 40, 33, 25, 20, 10)


def lines_of(path):
    process = subprocess.Popen(["zstdcat", path], stdout=subprocess.PIPE)
    for line in process.stdout:
        yield line.decode("utf-8")
    process.wait()


def texts_of(data):
    """Lists of words; the files in the order of their names."""
    for path in sorted(data.glob("**/*.zst")):
        if path.name.endswith(".jsonl.zst"):
            for line in lines_of(path):
                yield json.loads(line)["text"].split()
        elif path.parent.name.endswith("_sent"):
            columns = zip(*(line.rstrip("\n").split("\t")[:2] for line in lines_of(path)))
            for column in columns:
                yield [word for sentence in column for word in sentence.split()]


def cut(texts, wanted):
    for step in STEPS:
        passages = [(text, start) for text in range(len(texts))
                    for start in range(0, len(texts[text]) - WORDS + 1, step)]
        if len(passages) >= wanted:
            return step, passages
    sys.exit(f"passages.py: only {len(passages)} passages, {wanted} wanted")


def write(path, texts, passages):
    with open(path, "w", encoding="utf-8") as file:
        for number, (text, start) in enumerate(passages):
            passage = " ".join(texts[text][start:start + WORDS])
            file.write(json.dumps({"id": str(number), "text": passage}, ensure_ascii=False) + "\n")


def sign(cognate, out, name, *options):
    subprocess.run([cognate, "sign", out / f"{name}.jsonl", "-o", out / f"{name}.npy", "--bits", "1024", "--quiet",
                    *options], check=True)
    (out / f"{name}.jsonl").unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--random-order", action="store_true")
    parser.add_argument("--cognate", default="build/cognate")
    options = parser.parse_args()
    texts = list(texts_of(options.data))
    step, passages = cut(texts, options.rows + options.queries)
    found = len(passages)
    random.Random(1).shuffle(passages)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = passages[:options.rows]
    if not options.random_order:
        rows.sort()
    queries = passages[options.rows:options.rows + options.queries]
    write(options.out / "rows.jsonl", texts, rows)
    write(options.out / "queries.jsonl", texts, queries)
    write(options.out / "stored.jsonl", texts, passages[:options.queries])
    del texts, passages
    sign(options.cognate, options.out, "rows", "--save-statistics", options.out / "statistics")
    for name in "queries", "stored":
        sign(options.cognate, options.out, name, "--statistics", options.out / "statistics",
             "--weights", options.out / f"{name}_weights.npy")
    print(f"{len(rows)} passages of {WORDS} words, one every {step} words ({found} in all), and {len(queries)} "
          "others as queries")


if __name__ == "__main__":
    main()
