"""Sentence pairs of linked documents: precision, recall and processor seconds on documents made of parallel text.

usage: sentence_pairs.py DATA_FOLDER OUT_FOLDER [OTHER_PROGRAM]

The last 24,987 pairs of DATA/europarl_sent are left out of training. Documents are made of them, a pair per line:

    100, 1000, 10000   10,000 pairs in documents of that many sentences each
    blanks             documents of 100, with blanks between the sentences in place of line ends
    gaps               documents of 1,000; three tenths of the sentences of either side are missing
    shuffled           documents of 1,000; the English sentences stand in random order

A listed pair is right if both sides belong to the same line pair; it is whole if both are that line to the letter.
Recall counts the lines of which a pair was found. OTHER_PROGRAM, an earlier cognate, runs in turn with this one.
"""
import collections
import json
import os
import pathlib
import random
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COGNATE = os.environ.get("COGNATE") or ROOT / "build" / "cognate"
HELD_OUT, ROUNDS = 24987, 3
SETS = {"100": (100, 0), "1000": (1000, 0), "10000": (10000, 0), "blanks": (100, 10000), "gaps": (1000, 10000),
        "shuffled": (1000, 10000)}


def processor_seconds(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(data, out):
    """The lines that are left out; the lexicon of the others is trained unless it is there."""
    source = data / "europarl_sent" / "train.de-en.tsv.zst"
    lines = subprocess.run(["zstdcat", source], check=True, capture_output=True, text=True).stdout.splitlines()
    if not (out / "de-en.lex").exists():
        (out / "train.tsv").write_text("\n".join(lines[:-HELD_OUT]) + "\n")
        processor_seconds(COGNATE, "lexicon", "train", out / "train.tsv", "--from", "de", "--to", "en", "-o", out / "de-en.lex",
                          "--quiet")
        (out / "train.tsv").unlink()
    return [tuple(field.strip() for field in line.split("\t")[:2]) for line in lines[-HELD_OUT:]]


def write_set(name, held, out):
    """Documents of 10,000 line pairs; returns the lines of each document that are on both sides."""
    size, start = SETS[name]
    draw, parts = random.Random(3), []
    files = [open(out / f"{name}.{code}.jsonl", "w") for code in ("de", "en")]
    for first in range(start, start + 10000, size):
        part = held[first:first + size]
        kept = [[draw.random() >= 0.3 or name != "gaps" for _ in part] for _ in files]
        parts.append([pair for pair, here, there in zip(part, *kept) if here and there])
        for side, file in enumerate(files):
            texts = [pair[side] for pair, is_kept in zip(part, kept[side]) if is_kept]
            if name == "shuffled" and side:
                draw.shuffle(texts)
            text = (" " if name == "blanks" else "\n").join(texts)
            print(json.dumps({"id": str(len(parts) - 1), "text": text}), file=file)
    for file in files:
        file.close()
    return parts


def lines_with(texts, side, part, known):
    """Numbers of the lines that have the sentence, or that the sentence joins."""
    if (texts[side], side) not in known:
        found = {number for number, pair in enumerate(part) if texts[side] in pair[side]}
        found = found or {number for number, pair in enumerate(part) if len(pair[side]) > 20 and pair[side] in texts[side]}
        known[texts[side], side] = found
    return known[texts[side], side]


def score(parts, path):
    pairs = [json.loads(line) for line in open(path)]
    known, found = collections.defaultdict(dict), set()
    right = whole = 0
    for pair in pairs:
        texts, number = (pair["from"], pair["to"]), pair["from_id"]
        part = parts[int(number)]
        both = pair["to_id"] == number and lines_with(texts, 0, part, known[number]) & lines_with(texts, 1, part, known[number])
        right += bool(both)
        whole += bool(both) and any(part[line] == texts for line in both)
        found |= {(number, line) for line in both or ()}
    lines = sum(map(len, parts))
    return f"{len(pairs)} pairs, precision {right / len(pairs):.4f}, recall {len(found) / lines:.4f}, whole {whole / len(pairs):.4f}"


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(exist_ok=True)
    held = prepare(data, out)
    programs = {"this": COGNATE} | ({"other": sys.argv[3]} if len(sys.argv) > 3 else {})
    for name in SETS:
        parts = write_set(name, held, out)
        words = ["link", "--from", out / f"{name}.de.jsonl", "--to", out / f"{name}.en.jsonl", "--lexicon", out / "de-en.lex",
                 "--one-to-one", "--threshold", "0", "--quiet"]
        seconds = collections.defaultdict(list)
        for _ in range(ROUNDS if name.isdigit() else 1):
            seconds["links alone"].append(processor_seconds(COGNATE, *words, "-o", out / "links.tsv"))
            for program, path in programs.items():
                seconds[program].append(processor_seconds(path, *words, "--sentences", "-o", out / f"{program}.tsv"))
        processor_seconds(COGNATE, *words, "--sentences", "--format", "jsonl", "-o", out / "pairs.jsonl")
        times = ", ".join(f"{key} {sorted(values)[len(values) // 2]:.2f} s" for key, values in seconds.items())
        print(f"{name}: {score(parts, out / 'pairs.jsonl')}; {times}", flush=True)


if __name__ == "__main__":
    main() if len(sys.argv) > 2 else print(__doc__)
