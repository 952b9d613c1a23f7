# Pairs of documents in less memory than they take, by every method: terms, vectors and signatures in scratch files, the
# same pairs and the same recall as in memory, of one collection and of two, with short and empty documents and ids used
# twice, for every budget and number of threads; nothing stays in TMPDIR.
python3 - <<'PYTHON'
import json, random
rng = random.Random(5)
words = ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(4, 9))) for _ in range(4000)]
def text(count):
    return [words[min(int(rng.paretovariate(0.6)) - 1, 3999)] for _ in range(count)]
documents = []
for row in range(30000):
    kind = rng.random()
    if kind < 0.25 and documents:
        document = list(rng.choice(documents))
        for _ in range(rng.randint(0, 6)):
            if document:
                document[rng.randrange(len(document))] = rng.choice(words)
    else:
        document = text(0 if kind > 0.99 else rng.randint(1, 6) if kind > 0.95 else rng.randint(60, 140))
    documents.append(document)
for name, part in (("a", documents[:20000]), ("b", documents[20000:])):
    with open(name + ".jsonl", "w") as file:
        for row, document in enumerate(part):
            number = 17 if row == 900 else row
            file.write(json.dumps({"id": "%s%d" % (name, number), "text": " ".join(document)}) + "\n")
PYTHON
mkdir scratch
knobs() { # of a method: few tables, so that the test is quick
    case $1 in
    lsh) echo "--key-bits 12 --tables 4 --flips 3" ;;
    window) echo "--tables 9 --window 40" ;;
    esac
}
same() { # options: exit, pairs and recall as those in memory
    TMPDIR=scratch "$COGNATE" pairs "$@" --stats disk.json -o disk.tsv 2>notices.txt || echo "$*: exit $?"
    grep -q 'joined from scratch files' notices.txt || echo "$*: not from disk"
    grep '^cognate: recall [01][.]' notices.txt | cmp - recall.txt || echo "$*: another recall"
    cmp memory.tsv disk.tsv || echo "$*: other pairs"
}
for inputs in "a.jsonl" "a.jsonl --against b.jsonl"; do
    for method in exact lists flat lsh window auto; do
        set -- $inputs --lang none --method $method --threshold 0.6 $(knobs $method)
        "$COGNATE" pairs "$@" -o memory.tsv 2>memory.txt
        grep '^cognate: recall [01][.]' memory.txt >recall.txt
        same "$@" --memory 30M --threads 1
        [ $method != exact ] || [ "$(grep -o '"blocks": [0-9]*' disk.json | cut -d ' ' -f 2)" -gt 1 ] || echo "one block"
        same "$@" --memory 56M --threads 2
        [ "$(wc -l <memory.tsv)" -gt 100 ] && echo "$method: the same for every budget"
    done
    same $inputs --lang none --threshold 0.6 --memory 30M --threads 1
done
set -- a.jsonl --lang none --method flat --no-verify --threshold 0.8
"$COGNATE" pairs "$@" -o memory.tsv --quiet
TMPDIR=scratch "$COGNATE" pairs "$@" --memory 30M --threads 1 -o disk.tsv --quiet
head -n 1 disk.tsv | cut -f 3
cmp memory.tsv disk.tsv && echo "the same estimates"
# Through a pipe, whose size is not known.
"$COGNATE" pairs a.jsonl --lang none -o memory.tsv --quiet
TMPDIR=scratch "$COGNATE" pairs - --input-format jsonl --lang none --memory 60M -o disk.tsv --stats disk.json --quiet < <(cat a.jsonl)
grep -q disk_bytes disk.json && cmp memory.tsv disk.tsv && echo "the same through a pipe"
# Below the minimum, which the message states.
for budget in 10M 27M; do
    "$COGNATE" pairs a.jsonl --lang none --method exact --threads 1 --memory $budget -o none.tsv 2>err
    echo "too little: exit $?"
    grep -oE '(needs about|needs at least) [0-9]+ MB' err | sed 's/[0-9][0-9]*/.../' | tail -n 1
done
TMPDIR=/nowhere "$COGNATE" pairs a.jsonl --lang none --method flat --memory 41M -o none.tsv 2>/dev/null
echo "no scratch file: exit $?"
for method in exact flat window; do
    (ulimit -f 512 && trap '' XFSZ && TMPDIR=scratch "$COGNATE" pairs a.jsonl --lang none --method $method --memory 41M -o none.tsv 2>err)
    echo "full disk: exit $?"
    sed 's/.*\(scratch file in TMPDIR\).*/\1/' err | tail -n 1
done
# Stopped in the middle.
TMPDIR=scratch "$COGNATE" pairs a.jsonl --lang none --method flat --threshold 0.2 --memory 30M --threads 1 -o none.tsv 2>/dev/null &
sleep 1
kill -INT $!
wait $!
echo "stopped: exit $?"
ls scratch none.tsv* 2>/dev/null | grep -v scratch: | wc -l
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
