#!/usr/bin/env python3
"""Deduplication of short texts in Python: cognate.dedup beside rensa and datasketch in one run, agreement with the exact
answer, what Python adds to the C program, and memory.

    python_speed.py [--documents N] [--datasketch N] [--overhead N] [--program PATH]
    needs the packages cognate, pyarrow, rensa and datasketch

Texts are sentences of drawn words, of which three in ten are changed copies of earlier ones. The rule is the same for all:
Jaccard coefficient of word 3-grams of 0.8 or more to a document that is kept, the first stays. Peers use 128 permutations;
datasketch sees the first N only, and its time for all is extrapolated linearly. Agreement is about the documents that the
exact answer removes: recall is the share of them that goes, precision the share of what goes that should. Every
measurement is a process of its own; seconds are processor time of all its threads."""
import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
THRESHOLD = 0.8


def make_texts(count):
    draw = random.Random(5)
    words = ["".join(draw.choice("bcdfglmnprst") + draw.choice("aeiou") for _ in range(draw.randrange(1, 4)))
             for _ in range(20000)]
    texts = []
    for row in range(count):
        if row % 10 < 3 and row > 10:
            text = texts[draw.randrange(row)].split()
            for _ in range(draw.choice((0, 1, 1, 2))):
                text[draw.randrange(len(text))] = draw.choice(words)
        else:
            text = [words[int(len(words) * draw.random() ** 2)] for _ in range(draw.randrange(25, 45))]
        texts.append(" ".join(text))
    return texts


def grams(text):
    words = text.split()
    return {" ".join(words[i:i + 3]) for i in range(max(1, len(words) - 2))}


# ---- One measurement, in a process of its own ------------------------------------------------------------------------

def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory_bytes(field):
    """VmRSS: now; VmHWM: the most since forget_peak."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def forget_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def run_cognate(texts):
    import pyarrow as pa

    import cognate
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    text_bytes = table.nbytes
    del texts
    cognate.dedup(["warm", "up"])
    forget_peak()
    before, start, wall = memory_bytes("VmRSS"), cpu_seconds(), time.monotonic()
    kept = cognate.dedup(table, threshold=THRESHOLD, keep="first").kept
    peak = memory_bytes("VmHWM")
    return {"cpu": cpu_seconds() - start, "wall": time.monotonic() - wall, "kept": kept.tolist(),
            "text_bytes": text_bytes, "added_bytes": peak - before}


def run_stream(texts, sketch, lsh):
    """Keeps what finds nothing in the index, as the examples of the peers do."""
    start, wall, kept = cpu_seconds(), time.monotonic(), []
    for row, text in enumerate(texts):
        minhash = sketch(text)
        if not lsh.query(minhash):
            lsh.insert(row, minhash)
            kept.append(row)
    return {"cpu": cpu_seconds() - start, "wall": time.monotonic() - wall, "kept": kept}


def run_rensa(texts):
    from rensa import RMinHash, RMinHashLSH

    def sketch(text):
        minhash = RMinHash(num_perm=128, seed=1)
        minhash.update(list(grams(text)))
        return minhash
    return run_stream(texts, sketch, RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16))


def run_datasketch(texts):
    from datasketch import MinHash, MinHashLSH

    def sketch(text):
        minhash = MinHash(128)
        minhash.update_batch([gram.encode() for gram in grams(text)])
        return minhash
    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    return run_stream(texts, sketch, lsh)


def measured(name, count):
    done = subprocess.run([sys.executable, __file__, "--one", name, "--documents", str(count)], stdout=subprocess.PIPE,
                          text=True, check=True)
    return json.loads(done.stdout)


# ---- The run ----------------------------------------------------------------------------------------------------------

def agreement(kept, exact, count):
    removed, wanted = set(range(count)) - set(kept), set(range(count)) - {row for row in exact if row < count}
    both = len(removed & wanted)
    return both / max(1, len(wanted)), both / max(1, len(removed))


def compare(count, part):
    ours = measured("cognate", count)
    print(f"{count} texts, {ours['text_bytes'] / 1e6:.0f} MB; exact: {count - len(ours['kept'])} go")
    print(f"{'':12}{'CPU s':>10}{'ratio':>8}{'recall':>9}{'precision':>11}")
    print(f"{'cognate':12}{ours['cpu']:10.1f}{1:8.0f}{1:9.4f}{1:11.4f}")
    for name, rows in (("rensa", count), ("datasketch", part)):
        theirs = measured(name, rows)
        seconds = theirs["cpu"] * count / rows
        recall, precision = agreement(theirs["kept"], ours["kept"], rows)
        note = "" if rows == count else f"  extrapolated from {rows}"
        print(f"{name:12}{seconds:10.1f}{seconds / ours['cpu']:8.1f}{recall:9.4f}{precision:11.4f}{note}", flush=True)
    print(f"memory that dedup adds: {ours['added_bytes'] / 1e6:.0f} MB, beside {ours['text_bytes'] / 1e6:.0f} MB of text in Arrow")


def overhead(count, program):
    """The C program reads JSON lines, which it has to parse; Python has Arrow."""
    path = ROOT / "build/python_speed.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        for text in make_texts(count):
            file.write(json.dumps({"text": text}) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "dedup", path, "--keep", "first", "--quiet", "-o", path.with_suffix(".out")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ours = measured("cognate", count)["cpu"]
    print(f"{count} texts: C program from JSON lines {theirs:.2f} s, Python from Arrow {ours:.2f} s of processor time, "
          f"{(ours / theirs - 1) * 100:+.1f}%")
    path.unlink()
    path.with_suffix(".out").unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--datasketch", type=int, default=20_000, metavar="N")
    parser.add_argument("--overhead", type=int, default=100_000, metavar="N")
    parser.add_argument("--program", default=ROOT / "build/cognate", type=pathlib.Path)
    parser.add_argument("--one", choices=["cognate", "rensa", "datasketch"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one = {"cognate": run_cognate, "rensa": run_rensa, "datasketch": run_datasketch}[arguments.one]
        json.dump(one(make_texts(arguments.documents)), sys.stdout)
        return
    compare(arguments.documents, min(arguments.datasketch, arguments.documents))
    overhead(arguments.overhead, arguments.program)


if __name__ == "__main__":
    main()
