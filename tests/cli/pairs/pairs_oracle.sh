# The pairs by Jaccard and containment are those that a Python program finds that compares the sets of all documents.
here=$(dirname "$0")
python3 "$here/../set_oracle.py" a.jsonl 1500 21
python3 "$here/../set_oracle.py" b.jsonl 700 22
# Equal documents on both sides, documents without terms, and ids that repeat.
python3 - <<'P'
import json, random
draw = random.Random(5)
a, b = ([json.loads(line) for line in open(f"{side}.jsonl")] for side in "ab")
for row in draw.sample(range(len(a)), 300):
    b[draw.randrange(len(b))]["text"] = a[row]["text"]
for side in a, b:
    for row in draw.sample(range(len(side)), 60):
        side[row]["text"] = draw.choice(["", "...", "?!"])
    for row in draw.sample(range(len(side)), 40):
        side[row]["id"] = side[draw.randrange(len(side))]["id"]
for name, side in ("a", a), ("b", b):
    open(f"{name}.jsonl", "w").writelines(json.dumps(record) + "\n" for record in side)
P
python3 "$here/pairs_oracle.py" "$COGNATE" a.jsonl
python3 "$here/pairs_oracle.py" "$COGNATE" a.jsonl b.jsonl
python3 "$here/pairs_oracle.py" "$COGNATE" b.jsonl a.jsonl
