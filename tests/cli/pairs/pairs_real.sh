# Real documents that every Debian system has: the licences of its packages. Python's own sets of word 3-grams say
# which pairs there are; approximate methods find the share that they promise.
python3 - <<'P'
import glob, json, os
paths = sorted({os.path.realpath(p) for p in glob.glob("/usr/share/common-licenses/*") + glob.glob("/usr/share/doc/*/copyright")})
texts = ((path, open(path, "rb").read().decode("utf-8", "replace")) for path in paths)
with open("licences.jsonl", "w", encoding="utf-8") as out:
    for path, text in [item for item in texts if len(item[1]) < 20000][:250]:
        out.write(json.dumps({"id": path, "text": text}, ensure_ascii=False) + "\n")
P
[ "$(wc -l <licences.jsonl)" -ge 60 ] || echo "too few documents: $(wc -l <licences.jsonl)"
"$COGNATE" pairs licences.jsonl --measure jaccard --tokens regex --threshold 0.7 --quiet >found.tsv
python3 - <<'P'
import json, re

def grams(text):
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i:i + 3]) for i in range(max(1, len(words) - 2))}

docs = [(d["id"], grams(d["text"])) for d in map(json.loads, open("licences.jsonl", encoding="utf-8"))]
listed = {}
for i, (a, x) in enumerate(docs):
    for b, y in docs[i + 1:]:
        if min(len(x), len(y)) >= 0.7 * max(len(x), len(y)):
            both = len(x & y)
            if both >= 0.7 * (len(x) + len(y) - both):
                listed[a, b] = both / (len(x) + len(y) - both)
rows = (line.rstrip("\n").split("\t") for line in open("found.tsv", encoding="utf-8").readlines()[1:])
found = {tuple(row[:2]): float(row[2]) for row in rows}
worst = max(abs(listed[pair] - found[pair]) for pair in listed.keys() & found.keys())
print("enough pairs" if len(listed) > 10 else f"only {len(listed)} pairs")
print(len(listed.keys() - found.keys()), "missing,", len(found.keys() - listed.keys()), "too many,",
      "similarities agree" if worst <= 5.1e-7 else f"similarities differ by {worst}")
P
"$COGNATE" pairs licences.jsonl --threshold 0.6 --method exact --quiet >exact.tsv
for method in lsh window flat; do
    "$COGNATE" pairs licences.jsonl --threshold 0.6 --method $method --recall 0.9 --quiet >found.tsv
    python3 - $method <<'P'
import sys

def load(path):
    return {tuple(line.split("\t")[:2]) for line in open(path, encoding="utf-8").readlines()[1:]}

exact, found = load("exact.tsv"), load("found.tsv")
reached = len(exact & found) / len(exact)
allowed = 0.9 - 2 * (0.9 * 0.1 / len(exact)) ** 0.5  # the documents differ between machines, and so does luck
print(sys.argv[1], "reached," if reached >= allowed else f"missed: {reached:.3f},", len(found - exact), "too many")
P
done
"$COGNATE" dedup licences.jsonl -o kept.jsonl --quiet
"$COGNATE" pairs kept.jsonl --measure jaccard --quiet | wc -l
python3 - <<'P'
given, kept = (open(name, encoding="utf-8").read().splitlines() for name in ("licences.jsonl", "kept.jsonl"))
print("kept as they were, in order" if [line for line in given if line in set(kept)] == kept else "changed")
P
