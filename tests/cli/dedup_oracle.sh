# What dedup keeps is what a Python program finds that compares the sets of all documents.
here=$(dirname "$0")
python3 - <<'P'
import json, random
random.seed(11)
vocabulary = [f"word{i}" for i in range(3000)] + ["Straße", "ÉCOLE", "naïve", "x_1", "42", "don't", "e-mail", "日本"]
def text(count):
    return [vocabulary[int(random.random() ** 2 * len(vocabulary))] for _ in range(count)]
def near(words):
    words = list(words)
    for _ in range(random.randrange(5)):
        at = random.randrange(len(words) + 1)
        words[at:at + random.randrange(2)] = text(random.randrange(2))
    if random.random() < 0.2:
        at = random.randrange(len(words) + 1)
        words = words[at:at + random.randrange(1, len(words) + 2)]
    return words
documents = []
while len(documents) < 3000:
    base = text(random.choice([1, 2, 3, 5, 8, 9, 10, 11, 12, 15, 19, 20, 21, 22, 30, 60, 100, 200]))
    for _ in range(random.choice([1, 1, 2, 3, 10])):
        words = near(base)
        if random.random() < 0.3:
            base = words or base
        documents.append(random.choice([" ", "  ", ", ", "\n"]).join(words))
random.shuffle(documents)
with open("made.jsonl", "w") as f:
    f.writelines(json.dumps({"id": f"d{i}", "text": d}) + "\n" for i, d in enumerate(documents))
P
for threshold in 0.3 0.5 0.75 0.8 0.9 1; do python3 "$here/dedup_oracle.py" "$COGNATE" made.jsonl $threshold jaccard containment; done
