"""Two made-up languages for the command-line tests: a table of words, documents of both that are translations
of each other word by word, and the cosines of all pairs by plain loops.

usage: two_languages.py write FOLDER [N]   table.tsv, from.jsonl, to.jsonl, gold.tsv of N documents (150)
       two_languages.py brute FOLDER S     pairs with a cosine of S or more, in the order of pairs
       two_languages.py search FOLDER      the 3 nearest `to` documents of each `from` document, weighed as by an index
                                           of the `to` documents
       two_languages.py beside FOLDER      the 3 nearest of both collections of each `from` document, by frequencies
"""
import collections
import json
import math
import random
import sys

rng = random.Random(11)
syllables = [c + v for c in "bcdfglmnprst" for v in "aeiou"]
sources = ["".join(rng.choice(syllables) for _ in range(2)) + "x" for _ in range(600)]
targets = ["q" + "".join(rng.choice(syllables) for _ in range(2)) for _ in range(700)]


def table():
    rows = {}
    for word in sorted(set(sources)):
        chosen = rng.sample(targets, 3)
        rows[word] = list(zip(chosen, (0.625, 0.25, 0.125)))
    return rows


def documents(rows, count):
    words, left, right = sorted(rows), [], []
    for number in range(count):
        topic = rng.sample(words, 40)
        source = [rng.choice(topic) for _ in range(rng.randrange(20, 90))]
        target = []
        for word in source:
            draw = rng.random()
            target.append(rows[word][0 if draw < 0.7 else 1 if draw < 0.9 else 2][0])
        name = [f"zz{number % 40}name"] * 2  # in no table: stands for itself
        left.append(source + name)
        right.append(target + name)
    return left, right


def vectors(bags, frequencies):
    """BM25 with k1 1.2, b 0.75, unit length; bags are tf, or tf*."""
    mean = sum(sum(bag.values()) for bag in bags) / len(bags)
    result = []
    for bag in bags:
        length = sum(bag.values())
        vector = {}
        for term, tf in bag.items():
            df = frequencies[term]
            idf = math.log(1 + (max(len(bags) - df, 0) + 0.5) / (df + 0.5))
            vector[term] = idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean))
        norm = math.sqrt(sum(value * value for value in vector.values()))
        result.append({term: value / norm for term, value in vector.items()})
    return result


def projected(rows, texts):
    bags, frequencies = [], collections.Counter()
    for text in texts:
        bags.append(expected(rows, text))
        for word in set(text):
            for term, p in rows.get(word, [(word, 1)]):
                frequencies[term] += p
    return vectors(bags, frequencies)


def unit(vector):
    norm = math.sqrt(sum(value * value for value in vector.values()))
    return {term: value / norm for term, value in vector.items()}


def asked(rows, texts, collection):
    """Projected queries by the statistics of a collection. A term that it lacks counts as its rarest if it occurs at
    least once."""
    frequencies = collections.Counter(term for text in collection for term in set(text))
    mean = sum(map(len, collection)) / len(collection)
    result = []
    for text in texts:
        bag = expected(rows, text)
        length, vector = math.floor(sum(bag.values()) + 0.5), {}
        for term, tf in bag.items():
            if frequencies[term] or tf >= 1:
                df = frequencies[term] or 1
                idf = math.log(1 + (len(collection) - df + 0.5) / (df + 0.5))
                vector[term] = idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean))
        result.append(unit(vector))
    return result


def expected(rows, text):
    bag = collections.Counter()
    for word, count in collections.Counter(text).items():
        for term, p in rows.get(word, [(word, 1)]):
            bag[term] += p * count
    return bag


def list_nearest(queries, documents):
    """Documents are pairs of name and vector."""
    for i, query in enumerate(queries):
        cosines = [(sum(value * vector[term] for term, value in query.items() if term in vector), name)
                   for name, vector in documents]
        for rank, (cosine, name) in enumerate(sorted(cosines, key=lambda pair: -pair[0])[:3], 1):
            print(f"from{i}\t{rank}\t{name}\t{cosine:.6f}")


def native(texts):
    bags = [collections.Counter(text) for text in texts]
    frequencies = collections.Counter(term for bag in bags for term in bag)
    return vectors(bags, frequencies)


rows = table()
left, right = documents(rows, int(sys.argv[3]) if sys.argv[1] == "write" and len(sys.argv) > 3 else 150)
folder = sys.argv[2]
if sys.argv[1] == "write":
    with open(f"{folder}/table.tsv", "w") as file:
        for word, entries in rows.items():
            for term, p in entries:
                print(word, term, p, sep="\t", file=file)
    for name, texts, code in (("from", left, "vo"), ("to", right, "eo")):
        with open(f"{folder}/{name}.jsonl", "w") as file:
            for number, text in enumerate(texts):
                print(json.dumps({"id": f"{name}{number}", "lang": code, "text": " ".join(text)}), file=file)
    with open(f"{folder}/gold.tsv", "w") as file:
        for number in range(len(left)):
            print(f"from{number}\tto{number}", file=file)
elif sys.argv[1] == "search":
    list_nearest(asked(rows, left, right), [(f"to{j}", vector) for j, vector in enumerate(native(right))])
elif sys.argv[1] == "beside":
    queries = [unit(expected(rows, text)) for text in left]
    natives = [unit(collections.Counter(text)) for text in right]
    list_nearest(queries, [(f"to{j}", vector) for j, vector in enumerate(natives)] +
                 [(f"from{j}", vector) for j, vector in enumerate(queries)])
else:
    a, b, threshold = projected(rows, left), native(right), float(sys.argv[3])
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            cosine = sum(value * y[term] for term, value in x.items() if term in y)
            if cosine >= threshold:
                print(f"from{i}\tto{j}\t{cosine:.6f}")
