# Pairs of documents in less memory than they take, by windows: terms and signatures in scratch files, the same pairs and
# the same recall as in memory, of one collection and of two, with short and empty documents and ids used twice; nothing
# stays in TMPDIR.
python3 - <<'PYTHON'
import json, random
rng = random.Random(5)
words = ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(4, 9))) for _ in range(4000)]
def text(count):
    return [words[min(int(rng.paretovariate(0.6)) - 1, 3999)] for _ in range(count)]
documents = []
for row in range(6000):
    kind = rng.random()
    if kind < 0.25 and documents:
        document = list(rng.choice(documents))
        for _ in range(rng.randint(0, 6)):
            if document:
                document[rng.randrange(len(document))] = rng.choice(words)
    else:
        document = text(0 if kind > 0.99 else rng.randint(1, 6) if kind > 0.95 else rng.randint(20, 50))
    documents.append(document)
for name, part in (("a", documents[:4000]), ("b", documents[4000:])):
    with open(name + ".jsonl", "w") as file:
        for row, document in enumerate(part):
            number = 17 if row == 900 else row
            file.write(json.dumps({"id": "%s%d" % (name, number), "text": " ".join(document)}) + "\n")
PYTHON
mkdir scratch
for inputs in "a.jsonl" "a.jsonl --against b.jsonl"; do
    for threshold in 0.5 0.9; do
        set -- $inputs --lang none --method window --threshold $threshold --tables 9 --window 40
        "$COGNATE" pairs "$@" -o memory.tsv 2>memory.txt
        echo "exit $?"
        TMPDIR=scratch "$COGNATE" pairs "$@" --memory 41M --stats disk.json -o disk.tsv 2>notices.txt
        echo "exit $?"
        grep -c 'joined from scratch files' notices.txt
        grep -c 'fewer than 5 weighted terms' notices.txt
        grep '^cognate: recall [01][.]' memory.txt >recall.txt && grep -Fxf recall.txt notices.txt >/dev/null && echo "the same recall"
        grep -q documents_loaded disk.json && cmp memory.tsv disk.tsv && [ "$(wc -l <memory.tsv)" -gt 100 ] && echo "the same pairs"
    done
done
ls scratch | wc -l
TMPDIR=/nowhere "$COGNATE" pairs a.jsonl --lang none --method window --memory 41M -o none.tsv 2>/dev/null
echo "no scratch file: exit $?"
(ulimit -f 64 && trap '' XFSZ && TMPDIR=scratch "$COGNATE" pairs a.jsonl --lang none --method window --memory 41M -o none.tsv 2>err)
echo "full disk: exit $?"
sed 's/.*\(scratch file in TMPDIR\).*/\1/' err | tail -n 1
"$COGNATE" pairs a.jsonl --lang none --method exact --memory 41M -o none.tsv 2>/dev/null
echo "exact: exit $?"
ls none.tsv 2>/dev/null | wc -l
# Documents too long for a whole recall sample: fewer are sampled; only documents that have candidates may be too many.
python3 - <<'PYTHON'
import json, random
rng = random.Random(6)
words = ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(6)) for _ in range(20000)]
texts = [" ".join(rng.sample(words, 4000)) for _ in range(800)]
for name, part in (("different", texts), ("equal", texts[:1] * 800)):
    with open(name + ".jsonl", "w") as file:
        for row, text in enumerate(part):
            file.write(json.dumps({"id": row, "text": text}) + "\n")
PYTHON
for name in different equal; do
    "$COGNATE" pairs $name.jsonl --lang none --method window -t 0.9 --memory 50M -o long.tsv 2>notices.txt
    echo "$name: exit $?"
    grep -E 'sampled|candidates' notices.txt | sed 's/ [0-9]* MB/ ... MB/g'
done
# A word that is said nine times is one term: such documents are short, in memory and on disk, and match by their terms
# however far apart their signatures are.
python3 - <<'PYTHON'
import json, random
rng = random.Random(7)
words = ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(7)) for _ in range(3000)]
with open("repeated.jsonl", "w") as file:
    for row in range(4000):
        few = words[row // 2 * 3:row // 2 * 3 + 3]
        text = few + [few[row % 2]] * 8 if row < 40 else rng.sample(words, 60)
        file.write(json.dumps({"id": row, "text": " ".join(text)}) + "\n")
PYTHON
set -- repeated.jsonl --lang none --method window --signature simhash --bits 256 --weighting tf --tables 4 --window 9
"$COGNATE" pairs "$@" -o memory.tsv --quiet
TMPDIR=scratch "$COGNATE" pairs "$@" --memory 42M -o disk.tsv --stats disk.json --quiet
grep -q documents_loaded disk.json && cmp memory.tsv disk.tsv && echo "$(($(wc -l <disk.tsv) - 1)) pairs of repeated words"
