#!/usr/bin/env python3
"""Sets of word 3-grams as Python's \\w+ finds them, their similarities, and documents to try them on.

usage: set_oracle.py FILE.jsonl COUNT SEED      writes about COUNT documents

A pair with a text of at most 10 words is compared by words, with how often each has come before; texts of more than
20 words have no such words. A text of at most 3 words is one word of its own.
"""
import json
import random
import re
import struct
import sys
from collections import defaultdict

TINY, SHORT, BRIDGE = 3, 10, 20


def sets_of(text, short_texts):
    tokens = [word.lower() for word in re.findall(r"\w+", text)]
    seen, words = defaultdict(int), set()
    if short_texts and 0 < len(tokens) <= TINY:
        return frozenset(), frozenset([tuple(tokens)])
    if short_texts and len(tokens) <= BRIDGE:
        for token in tokens:
            words.add((token, seen[token]))
            seen[token] += 1
    if (short_texts and len(tokens) <= SHORT) or not tokens:
        return frozenset(), frozenset(words)
    grams = {tuple(tokens[i : i + 3]) for i in range(max(1, len(tokens) - 2))}
    return frozenset(grams), frozenset(words)


def similarity(a, b, containment):
    x, y = (a[0], b[0]) if a[0] and b[0] else (a[1], b[1])
    if not x or not y:
        return 0.0
    shared = len(x & y)
    return shared / (min(len(x), len(y)) if containment else len(x) + len(y) - shared)


def printed(value):
    """Similarities are kept in single precision."""
    return f"{struct.unpack('f', struct.pack('f', value))[0]:.6f}"


def make(path, count, seed):
    """Families of near-copies, chains, equal, short and single documents, shuffled."""
    draw = random.Random(seed)
    vocabulary = [f"word{i}" for i in range(3000)] + ["Straße", "ÉCOLE", "naïve", "x_1", "42", "don't", "e-mail", "日本"]

    def text(words):
        return [vocabulary[int(draw.random() ** 2 * len(vocabulary))] for _ in range(words)]

    def near(words):
        words = list(words)
        for _ in range(draw.randrange(5)):
            at = draw.randrange(len(words) + 1)
            words[at:at + draw.randrange(2)] = text(draw.randrange(2))
        if draw.random() < 0.2:
            at = draw.randrange(len(words) + 1)
            words = words[at:at + draw.randrange(1, len(words) + 2)]
        return words

    documents = []
    while len(documents) < count:
        base = text(draw.choice([1, 2, 3, 5, 8, 9, 10, 11, 12, 15, 19, 20, 21, 22, 30, 60, 100, 200]))
        for _ in range(draw.choice([1, 1, 2, 3, 10])):
            words = near(base)
            if draw.random() < 0.3:
                base = words or base
            documents.append(draw.choice([" ", "  ", ", ", "\n"]).join(words))
    draw.shuffle(documents)
    with open(path, "w") as f:
        f.writelines(json.dumps({"id": f"d{i}", "text": d}) + "\n" for i, d in enumerate(documents))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
