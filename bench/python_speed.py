#!/usr/bin/env python3
"""Deduplication of short texts in Python: cognate.dedup next to rensa and datasketch in one run, agreement with the
exact answer, what Python adds to the C API, and memory.

    python_speed.py [--documents N] [--datasketch N] [--overhead N] [--runs N] [--program PATH]
    --documents 0 measures the overhead alone
    needs the packages cognate and pyarrow, and rensa and datasketch to compare; for the overhead, build/bench/bench_arrow

Texts are sentences of drawn words, of which three in ten are changed copies of earlier ones. The rule is the same for all:
Jaccard coefficient of word 3-grams of 0.8 or more to a document that is kept, the first stays. Peers use 128 permutations;
datasketch sees the first N only, and its time for all is extrapolated linearly. Agreement is about the documents that the
exact answer removes: recall is the share of them that goes, precision the share of what goes that should. Every
measurement is a process of its own. cognate uses all processors, the peers one; CPU is the processor time of all threads.

The overhead is that of the same job over the same texts in Arrow: cognate.dedup of a large_string column beside bench_arrow,
a C program that makes the same calls of the C API on such a column. Both do it several times in one process, processes of
both take turns, and medians are compared. Memory is what a run adds to the resident memory at its peak: if the text
were copied, Python's would be larger by the size of the text."""
import argparse
import json
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
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


def run_cognate(texts, runs=1):
    """Of several runs, each with its seconds and what it adds to the memory."""
    import pyarrow as pa

    import cognate
    table = pa.table({"text": pa.array(texts, pa.large_string())})
    del texts
    cognate.dedup(["warm", "up"])
    cpu, added = [], []
    for _ in range(runs):
        forget_peak()
        before, start, wall = memory_bytes("VmRSS"), cpu_seconds(), time.monotonic()
        kept = cognate.dedup(table, threshold=THRESHOLD, keep="first").kept
        cpu.append(cpu_seconds() - start)
        added.append(memory_bytes("VmHWM") - before)
    return {"cpu": statistics.median(cpu), "wall": time.monotonic() - wall, "kept": kept.tolist(), "text_bytes": table.nbytes,
            "added_bytes": added[0], "seconds": cpu}


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


def measured(name, count, runs=1):
    done = subprocess.run([sys.executable, __file__, "--one", name, "--documents", str(count), "--runs", str(runs)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


# ---- The run ----------------------------------------------------------------------------------------------------------

def agreement(kept, exact, count):
    removed, wanted = set(range(count)) - set(kept), set(range(count)) - {row for row in exact if row < count}
    both = len(removed & wanted)
    return both / max(1, len(wanted)), both / max(1, len(removed))


def compare(count, part):
    ours = measured("cognate", count)
    print(f"{count} texts, {ours['text_bytes'] / 1e6:.0f} MB; exact: {count - len(ours['kept'])} go")
    print(f"{'':12}{'wall s':>10}{'ratio':>8}{'CPU s':>10}{'ratio':>8}{'recall':>9}{'precision':>11}")
    print(f"{'cognate':12}{ours['wall']:10.1f}{1:8.0f}{ours['cpu']:10.1f}{1:8.0f}{1:9.4f}{1:11.4f}")
    for name, rows in (("rensa", count), ("datasketch", part)):
        theirs = measured(name, rows)
        wall, cpu = theirs["wall"] * count / rows, theirs["cpu"] * count / rows
        recall, precision = agreement(theirs["kept"], ours["kept"], rows)
        note = "" if rows == count else f"  extrapolated from {rows}"
        print(f"{name:12}{wall:10.1f}{wall / ours['wall']:8.1f}{cpu:10.1f}{cpu / ours['cpu']:8.1f}"
              f"{recall:9.4f}{precision:11.4f}{note}", flush=True)
    print(f"memory that dedup adds: {ours['added_bytes'] / 1e6:.0f} MB, beside {ours['text_bytes'] / 1e6:.0f} MB of text in Arrow")


def run_c(program, path, runs):
    """The same by the C API: seconds, kept rows, and what the first run adds to the memory."""
    done = subprocess.run([program, path, str(runs)], stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [float(line[0]) for line in lines], int(lines[0][1]), int(lines[0][2])


def overhead(count, program, runs):
    turns, ours, theirs = 3, [], []
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in make_texts(count))
        file.flush()
        for _ in range(turns):
            seconds, kept, their_bytes = run_c(program, file.name, runs)
            theirs += seconds
            python = measured("cognate", count, runs)
            ours += python["seconds"]
            if len(python["kept"]) != kept:
                sys.exit(f"Python keeps {len(python['kept'])} texts and C {kept}")
    c, own = statistics.median(theirs), statistics.median(ours)
    print(f"{count} texts in Arrow, {python['text_bytes'] / 1e6:.0f} MB, medians of {turns} x {runs} runs: C API {c:.3f} s, "
          f"Python {own:.3f} s of processor time, {(own / c - 1) * 100:+.1f}% "
          f"(least: {min(theirs):.3f} and {min(ours):.3f} s, {(min(ours) / min(theirs) - 1) * 100:+.1f}%)")
    print(f"memory that the first run adds at its peak: C API {their_bytes / 1e6:.1f} MB, "
          f"Python {python['added_bytes'] / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--datasketch", type=int, default=20_000, metavar="N")
    parser.add_argument("--overhead", type=int, default=100_000, metavar="N")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="of the overhead, in each process")
    parser.add_argument("--program", default=ROOT / "build/bench/bench_arrow", type=pathlib.Path)
    parser.add_argument("--one", choices=["cognate", "rensa", "datasketch"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one = {"cognate": run_cognate, "rensa": run_rensa, "datasketch": run_datasketch}[arguments.one]
        more = [arguments.runs] if arguments.one == "cognate" else []
        json.dump(one(make_texts(arguments.documents), *more), sys.stdout)
        return
    if arguments.documents:
        compare(arguments.documents, min(arguments.datasketch, arguments.documents))
    if arguments.overhead:
        overhead(arguments.overhead, arguments.program, arguments.runs)


if __name__ == "__main__":
    main()
