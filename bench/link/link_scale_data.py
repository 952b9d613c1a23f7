"""Two large collections with known partners, made of real sentence pairs, to measure how `link` grows.

usage: link_scale_data.py DATA_FOLDER OUT_FOLDER COUNT [ALONE]

Writes OUT/from.jsonl (German), OUT/to.jsonl (English) and OUT/gold.tsv, with COUNT documents on each side. A document is
made of sentences of parliament, drawn at random until it has about 1,500 bytes; its partner has the translations, in
the same order. The share ALONE (0.1) of each side has no partner. English documents stand in an order of their own.
OUT/de-en.lex is learnt from a quarter of the sentences.
"""
import array
import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COGNATE = os.environ.get("COGNATE") or ROOT / "build" / "cognate"
TEXT_BYTES = 1420
ALONE_SEEDS = 1 << 40  # of English documents without a partner


def sentence_pairs(data):
    text = subprocess.run(["zstdcat", data / "europarl_sent/train.de-en.tsv.zst"], check=True, capture_output=True).stdout
    return [line.split("\t") for line in text.decode().splitlines() if line.count("\t") == 1]


def drawn(pairs, seed):
    """The pairs of a document."""
    draw = random.Random(seed)
    size = 0
    while size < TEXT_BYTES:
        pair = pairs[int(draw.random() * len(pairs))]
        size += len(pair[0]) + 1
        yield pair


def write_side(path, pairs, side, seeds):
    lang = ("de", "en")[side]
    with open(path, "w", encoding="utf-8") as out:
        for number, seed in enumerate(seeds):
            text = " ".join(pair[side] for pair in drawn(pairs, seed))
            out.write(json.dumps({"id": f"{lang}{number}", "lang": lang, "text": text}, ensure_ascii=False) + "\n")


def main(data, out, count, alone):
    out.mkdir(parents=True, exist_ok=True)
    pairs = sentence_pairs(data)
    lexicon = out / "de-en.lex"
    if not lexicon.exists():
        text = out / "pairs.tsv"
        text.write_text("".join("\t".join(pair) + "\n" for pair in pairs[::4]))
        subprocess.run([COGNATE, "lexicon", "train", text, "--from", "de", "--to", "en", "-o", lexicon, "--quiet"],
                       check=True)
        text.unlink()
    both = count - int(count * alone)
    order = array.array("q", range(count))  # seeds of the English documents
    for i in range(both, count):
        order[i] += ALONE_SEEDS
    random.Random(count).shuffle(order)
    write_side(out / "from.jsonl", pairs, 0, range(count))
    write_side(out / "to.jsonl", pairs, 1, order)
    with open(out / "gold.tsv", "w", encoding="utf-8") as gold:
        for number, seed in enumerate(order):
            if seed < ALONE_SEEDS:
                print(f"de{seed}\ten{number}", file=gold)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]),
         float(sys.argv[4]) if len(sys.argv) == 5 else 0.1)
