# The numbers of the report against all comparisons, inside a collection and with a reference collection.
cat >check.py <<'P'
import json, random, re, subprocess, sys
THRESHOLD, FLOOR = 0.7, 0.5
rng = random.Random(11)
words = [f"w{i}" for i in range(5000)]
docs = []
for family in range(60):
    base = [rng.choice(words) for _ in range(rng.randrange(80, 160))]
    for _ in range(rng.randrange(1, 7)):
        share = rng.choice((0, 0.02, 0.05, 0.08, 0.12))
        docs.append([rng.choice(words) if rng.random() < share else word for word in base])
rng.shuffle(docs)
grams = [{tuple(doc[i:i + 3]) for i in range(len(doc) - 2)} for doc in docs]
texts = [" ".join(doc) for doc in docs]
split = len(docs) // 3

def write(path, rows):
    with open(path, "w") as out:
        for row in rows:
            out.write(json.dumps({"id": f"d{row}", "text": texts[row]}) + "\n")

def similarity(a, b):
    return len(grams[a] & grams[b]) / len(grams[a] | grams[b])

def result(path, *arguments):
    subprocess.run([*sys.argv[1:], "dedup", *arguments, "--tokens", "regex", "--threshold", str(THRESHOLD), "--dry-run", "--quiet",
                    "--report", path], check=True)
    return json.loads(re.search(r'id="result">(.*?)</script>', open(path).read(), re.S)[1])

def compare(name, found, removed, nearest):
    near = [similarity for similarity in removed if similarity < 1]
    below = sorted(round(s * 1e6) for s in nearest if FLOOR <= s < THRESHOLD)
    bins = [0] * 1001
    for s in nearest:
        if s >= FLOOR:
            bins[int(s * 1000 + 1e-3)] += 1
    print(name, "removed:", found["near"] == len(near), found["identical"] == len(removed) - len(near),
          "histogram:", found["bins"]["kept"][int(FLOOR * 1000):] == bins[int(FLOOR * 1000):], "some:", len(below) > 20)
    return below

# One collection: the longest text first, each document goes to the first one that is near enough.
write("all.jsonl", range(len(docs)))
order = sorted(range(len(docs)), key=lambda row: (-len(texts[row]), row))
kept, removed = [], []
for row in order:
    if near := [s for other in kept if (s := similarity(row, other)) >= THRESHOLD]:
        removed.append(near[0])
    else:
        kept.append(row)
best = {row: max(((similarity(row, other), other) for other in kept if other != row), key=lambda pair: pair[0]) for row in kept}
nearest = {row: s for row, (s, _) in best.items()}
found = result("all.html", "all.jsonl")
compare("inside:", found, removed, nearest.values())
pairs = {(row, other): s for row, (s, other) in best.items() if FLOOR <= s < THRESHOLD}
listed = [(found["documents"]["row"][a], found["documents"]["row"][b], s) for a, b, s in found["below"]]
print("pairs:", all(round(similarity(a, b) * 1e6) == s for a, b, s in listed), "falling:", [s for *_, s in listed] == sorted((s for *_, s in listed), reverse=True),
      "known:", {frozenset(pair[:2]) for pair in listed} <= {frozenset(pair) for pair in pairs} and len(listed) > 20)

# A reference collection: the nearest document of it.
write("reference.jsonl", range(split))
write("in.jsonl", range(split, len(docs)))
best = {row: max(similarity(row, other) for other in range(split)) for row in range(split, len(docs))}
first = {row: next(s for other in range(split) if (s := similarity(row, other)) >= THRESHOLD) for row in best if best[row] >= THRESHOLD}
found = result("against.html", "in.jsonl", "--against", "reference.jsonl")
below = compare("reference:", found, first.values(), [s for s in best.values() if s < THRESHOLD])
print("pairs:", sorted(pair[2] for pair in found["below"]) == below, found["referred"] == len(first))
P
python3 check.py "$COGNATE"
