#!/usr/bin/env python3
"""Hostile inputs of n and of 2 n bytes: the program may execute little more than twice the instructions. valgrind counts
them, so neither the machine nor its load matters. Ends with one line "N passed, N failed".
usage: tests/growth.py BUILD [NAME]   (the cases whose name contains NAME)"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

MOST_RATIO = 2.6
MOST_SECONDS = 90
LEAST = 3_000_000  # instructions; less is start and end of the program, which differ a little
CASES = {}


def case(name, command, file, n, make):
    """Adds a case. make(n) gives about n bytes, as str or bytes; they are written to `file`, which `command` reads."""
    CASES[name] = (command.split(), file, n, make)


def repeat(unit, before="", after=""):
    return lambda n: before + unit * (n // len(unit.encode())) + after


def page(unit, before="", after=""):
    """A dump with one page of that markup."""
    head = "<mediawiki><page><title>A</title><ns>0</ns><revision><text>"
    return repeat(unit, head + before, after + "</text></revision></page></mediawiki>")


def crawled(unit, before="", http=""):
    """A crawl with one page of that HTML."""
    def make(n):
        body = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{http}\r\n{repeat(unit, before)(n)}".encode()
        return b"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n" % len(
            body) + body + b"\r\n\r\n"
    return make


def numbered(line, before=""):
    """Lines in which %d is their number."""
    return lambda n: before + "".join(line % i if "%d" in line else line for i in range(n // (len(line) + 4)))


def settings(n):
    """A container whose settings have an entry per 16 bytes; the first byte asks fuzz_store for right checksums."""
    count = n // 16
    entries = b"".join(struct.pack("<BBI", 2, 8, 8) + b"%08d" % i + bytes(8) for i in range(count))
    section = struct.pack("<I", count) + entries
    table = 64 + (len(section) + 63) // 64 * 64
    header = struct.pack("<8s4sIIIQQQQQ", b"\x89COG\r\n\x1a\n", b"segm", 1, 1, 1, table, table + 32, 0, 0, 0)
    entry = b"sett" + struct.pack("<IQQQ", 0, 64, len(section), 0)
    return b"\1" + (header + section).ljust(table, b"\0") + entry


SIGN = "cognate sign %s -o out.npy --signature simhash --threads 1 --quiet"
WIKI = SIGN + " --input-format wikixml"
RP = "cognate sign %s -o out.npy --weighting tf --signature rp --bits 64 --threads 1 --quiet --lang "
EXPLAIN = "cognate explain %s %s --measure jaccard --format tsv --threads 1 --quiet"
TRAIN = "cognate lexicon train %s --from de --to en -o out.lex --threads 1 --min-count 1 --quiet"

# Text.
case("one word", SIGN, "a.txt", 300_000, repeat("a"))
for language, unit in {"en": "ational", "nl": "ä", "de": "ü", "ca": "à", "ta": "த"}.items():
    case(f"one word, stemmed as {language}", RP + language, "a.txt", 100_000, repeat(unit))
case("one word of two scripts", SIGN, "a.txt", 100_000, repeat("aя"))
case("marks on one letter", SIGN, "a.txt", 200_000, repeat("\u0301", "e"))
case("marks of falling classes on one letter", SIGN, "a.txt", 60_000, repeat("\u0301\u0323", "e"))
case("letters that compose", SIGN, "a.txt", 200_000, repeat("ᄀ\u1161"))
case("letters joined without width", SIGN, "a.txt", 200_000, repeat("\u200d"))
# From 64 KB on a dictionary is loaded, which takes as many instructions as a megabyte.
case("one short run of Chinese", SIGN, "a.txt", 30_000, repeat("我"))
case("one run of Chinese", SIGN, "a.txt", 3_000_000, repeat("我"))
case("one run of Thai", SIGN, "a.txt", 60_000, repeat("ส"))
case("flags", SIGN, "a.txt", 100_000, repeat("🇩"))
case("signs between letters", SIGN, "a.txt", 200_000, repeat("a."))
case("characters", SIGN + " --tokens chars --ngram 5", "a.txt", 200_000, repeat("\u0301", "e"))
for name, unit in {"one word again and again": "a ", "two words in turns": "a a a b ", "marks": "e\u0301", "Chinese": "我们 "}.items():
    case("passages: " + name, EXPLAIN, "a.txt", 100_000, repeat(unit))
case("passages: characters", EXPLAIN + " --tokens chars --ngram 5", "a.txt", 60_000, repeat("\u0301", "e"))
case("code: one word", SIGN + " --tokens code", "a.txt", 300_000, repeat("a"))
case("code: signs", SIGN + " --tokens code", "a.txt", 200_000, repeat("-"))
case("code: numbers", SIGN + " --tokens code", "a.txt", 300_000, repeat("1."))
case("code: wide blanks", SIGN + " --tokens code", "a.txt", 200_000, repeat("\u3000"))
# Documents.
case("lines of nothing", SIGN + " --lines", "a.txt", 100_000, repeat("\n"))
case("JSON: nested arrays", SIGN, "a.jsonl", 200_000, repeat("[", '{"text":"a","x":'))
case("JSON: fields", SIGN, "a.jsonl", 200_000, numbered('"f%d":1,', '{"text":"a",'))
case("JSON: escapes", SIGN, "a.jsonl", 200_000, repeat("\\u00e4", '{"text":"', '"}\n'))
case("JSON: bad lines", SIGN, "a.jsonl", 100_000, repeat("{\n"))
case("CSV: columns", SIGN, "a.csv", 200_000, numbered("c%d,", "id,text,"))
case("CSV: a quote that never ends", SIGN, "a.csv", 200_000, repeat('""', 'id,text\n1,"'))
case("LETT: base64", SIGN, "a.lett", 200_000, repeat("YWFh", "en\ttext/html\tutf-8\thttp://a\t\t", "\n"))
case("log: clicks of one query", "cognate related %s -o out.tsv --threads 1 --quiet", "a.tsv", 100_000, numbered("q\tu%d\t1\n"))
case("log: queries of one click", "cognate related %s -o out.tsv --threads 1 --quiet", "a.tsv", 100_000, numbered("q%d\tu\t1\n"))
case("CSV: a delimiter and no header", SIGN + " --delimiter ; --no-header --text-field 1", "a.csv", 200_000, repeat("a;"))
# Crawls.
case("WARC: records", SIGN, "a.warc", 200_000, repeat("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\na\r\n\r\n"))
case("WARC: a header that never ends", SIGN, "a.warc", 400_000, repeat("a: b\r\n", "WARC/1.0\r\n"))
case("WARC: blank lines", SIGN, "a.warc", 400_000, repeat("\r\n", "WARC/1.0\r\nContent-Length: 0\r\n\r\n"))
case("WARC: chunks", SIGN, "a.warc", 200_000, crawled("1\r\na\r\n", http="Transfer-Encoding: chunked\r\n"))
for name, unit in {"tags": "<p>", "open tags": "<a ", "quotes": "<a b=\"'", "values": "=\"\"", "comments": "<!--", "scripts":
                   "<script>", "ends of scripts": "</script", "references": "&amp", "numbers": "&#1;", "signs": "<", "meta":
                   "<meta ", "closing": "</p", "styles": "<style></style>"}.items():
    case("HTML: " + name, SIGN, "a.warc", 200_000, crawled(unit))
case("HTML: an open tag", SIGN, "a.warc", 200_000, crawled("=\"", "<a "))
case("HTML: an open script", SIGN, "a.warc", 200_000, crawled("</scrip", "<script>"))
# Markup.
for name, unit in {"headings": "==a", "headings that end": "== a ==\n", "levels": "=", "links": "[[", "linked links": "[[a|",
                   "closing": "]]", "files": "[[File:a|", "templates": "{{", "closed": "}}", "parameters": "{{{a|",
                   "tables": "{|\n", "cells": "|-\n|a||", "references": "&lt;ref&gt;", "open tags": "&lt;a ", "unclosed":
                   "&lt;math&gt;", "comments": "&lt;!--", "quotes": "'''''", "addresses": "[http://a ", "entities": "&amp;#",
                   "plain": "&lt;nowiki&gt;", "galleries": "&lt;gallery&gt;", "indents": "*#:;", "rules": "----"}.items():
    case("wiki: " + name, WIKI, "a.xml", 60_000, page(unit))
case("wiki: a heading of signs", WIKI, "a.xml", 60_000, page("= ", "=a", "b"))
case("wiki: magic words", WIKI, "a.xml", 60_000, page("_A"))
case("wiki: pages", WIKI, "a.xml", 100_000,
     repeat("<page><title>A</title><ns>0</ns><revision><text>a</text></revision></page>", "<mediawiki>", "</mediawiki>"))
case("wiki: elements in a page", WIKI, "a.xml", 100_000,
     repeat("<a>", "<mediawiki><page>", "</page></mediawiki>"))
# Parallel text and other files.
case("TMX: variants", TRAIN, "a.tmx", 100_000,
     repeat('<tuv xml:lang="de"><seg>a</seg></tuv>', "<tmx><body><tu>", "</tu></body></tmx>"))
case("TMX: nested", TRAIN, "a.tmx", 100_000, repeat("<bpt>", '<tmx><body><tu><tuv xml:lang="de"><seg>'))
case("PO: lines of one entry", TRAIN, "a.po", 100_000, repeat('"a"\n', 'msgid "b"\nmsgstr ""\n'))
case("PO: plurals", TRAIN, "a.po", 100_000, repeat('msgstr[0] "a"\n', 'msgid "b"\n'))
case("lexicon: translations of one word", "cognate lexicon convert %s --from de --to en -o out.lex --threads 1 --quiet",
     "a.tsv", 100_000, numbered("haus\thouse%d\t0.5\n"))
case("settings", "fuzz/fuzz_store %s", "a.cog", 100_000, settings)
case("equal documents", "cognate dedup %s -o out.jsonl --threads 1 --quiet", "a.jsonl", 60_000,
     numbered('{"id":"%d","text":"one two three four five six"}\n'))
case("documents of one common word", "cognate dedup %s -o out.jsonl --threads 1 --quiet", "a.jsonl", 60_000,
     numbered('{"text":"one two three a%d"}\n'))


def instructions(build, command, file, data):
    """Executed by the command, or None after MOST_SECONDS. How the command ends does not matter, as long as it does."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, file)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        words = [str(build / command[0])] + [word.replace("%s", str(path)) for word in command[1:]]
        counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        try:
            done = subprocess.run(counter + words, cwd=folder, capture_output=True, timeout=MOST_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return None
        found = re.search(rb"I\s+refs:\s+([0-9,]+)", done.stderr)
        if not found or done.returncode < 0 or b"Process terminating" in done.stderr:
            raise RuntimeError(done.stderr.decode(errors="replace")[-600:])
        return int(found[1].replace(b",", b""))


def measure(build, name, base):
    """base: a promise of the instructions for hardly any input."""
    command, file, n, make = CASES[name]
    counts = []
    for size in (n, 2 * n):
        counts.append(instructions(build, command, file, make(size)))
        if counts[-1] is None:
            return False, f"more than {MOST_SECONDS} s for {size} bytes"
    once, twice = (count - base.result() for count in counts)
    ratio = twice / max(once, LEAST)
    return ratio <= MOST_RATIO, f"{once / 1e6:.0f} and {twice / 1e6:.0f} million instructions, {ratio:.2f} times"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if not shutil.which("valgrind"):
        print("skip growth: install valgrind\n0 passed, 0 failed, 1 skipped")
        return False
    build = pathlib.Path(sys.argv[1]).resolve()
    names = [name for name in CASES if len(sys.argv) < 3 or sys.argv[2] in name]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bases, jobs = {}, []
        for name in names:
            command, file, n, make = CASES[name]
            if (kind := " ".join(command)) not in bases:
                bases[kind] = pool.submit(instructions, build, command, file, make(n // 50))
            jobs.append((name, pool.submit(measure, build, name, bases[kind])))
        for name, job in jobs:
            fine, text = job.result()
            failed += not fine
            print("ok  " if fine else "FAIL", f"{name}: {text}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
