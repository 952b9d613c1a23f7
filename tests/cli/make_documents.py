"""Writes documents for the command-line tests: families of near-duplicates over a made-up vocabulary.

usage: make_documents.py FAMILIES MEMBERS WORDS > documents.jsonl
"""
import json
import random
import sys

families, members, words = (int(argument) for argument in sys.argv[1:4])
rng = random.Random(7)
vocabulary = ["".join(rng.choice("bcdfglmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(2000)]
for family in range(families):
    text = [rng.choice(vocabulary) for _ in range(words)]
    for member in range(members):
        copy = list(text)
        for _ in range(member * words // 40):
            copy[rng.randrange(words)] = rng.choice(vocabulary)
        print(json.dumps({"id": f"f{family}m{member}", "lang": "en", "text": " ".join(copy)}))
