#!/usr/bin/env python3
"""Real documents for bench_short: all sets of a folder, signed by simhash to 64 bits, with margins.

    short_documents.py DATA OUT

OUT then has documents.npy and documents_weights.npy, of every document of DATA (articles, manual pages, statutes,
revisions of pages, translations), and messages.npy and messages_weights.npy, of every message of programs and every
sentence in DATA, each language by itself: short texts, of which many differ in a word. The order is drawn at random
with a fixed seed. Takes two minutes of processor time and 1 GB of disk."""
import json
import pathlib
import random
import subprocess
import sys

from passages import lines_of


def documents(data):
    for path in sorted(data.glob("**/*.jsonl.zst")):
        for line in lines_of(path):
            yield json.loads(line)["text"]


def messages(data):
    for path in sorted(data.glob("*_sent/*.zst")):
        for line in lines_of(path):
            yield from line.rstrip("\n").split("\t")[:2]


def sign(cognate, out, name, texts):
    texts = list(texts)
    random.Random(1).shuffle(texts)
    with open(out / f"{name}.jsonl", "w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            file.write(json.dumps({"id": str(number), "text": text}, ensure_ascii=False) + "\n")
    subprocess.run([cognate, "sign", out / f"{name}.jsonl", "-o", out / f"{name}.npy", "--weights",
                    out / f"{name}_weights.npy", "--signature", "simhash", "--bits", "64", "--quiet"], check=True)
    (out / f"{name}.jsonl").unlink()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cognate = pathlib.Path(__file__).resolve().parents[2] / "build" / "cognate"
    out.mkdir(parents=True, exist_ok=True)
    sign(cognate, out, "documents", documents(data))
    sign(cognate, out, "messages", messages(data))


if __name__ == "__main__":
    main()
