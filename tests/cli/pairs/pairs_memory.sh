# Candidates that do not match take no memory: two million of them fit a budget that has room for half.
python3 - <<'P' >many.jsonl
for i in range(2000):
    words = " ".join(f"w{(i * 31 + j * 7919 + j * j * i) % 9973}" for j in range(12))
    print('{"id": "%d", "text": "%s"}' % (i, words))
    if i % 500 == 0:
        print('{"id": "%d again", "text": "%s"}' % (i, words))
P
options="many.jsonl --lang none -t 0.9 --quiet --memory 42M"
"$COGNATE" pairs $options --method exact >exact.tsv
cut -f 1-3 exact.tsv
"$COGNATE" pairs $options --method flat --recall 1 --stats s.json | cut -f 1-3 | diff - <(cut -f 1-3 exact.tsv) && echo "flat: the same"
grep candidates s.json
# By sets, the stated memory is near what is used, for thresholds where posting lists have a part of all n-grams.
python3 - <<'P' >phrases.jsonl
import json, random
random.seed(3)
words = [f"w{i}" for i in range(20000)]
phrases = [random.choices(words, k=8) for _ in range(20000)]
for i in range(15000):
    text = [word for _ in range(20) for word in random.choice(phrases)] + random.choices(words, k=60)
    print(json.dumps({"id": i, "text": " ".join(text)}))
P
for rule in "--threshold 0.6" "--threshold 0.4" "--measure containment --threshold 0.5"; do
    "$COGNATE" dedup phrases.jsonl --dry-run --quiet --stats s.json $rule
    python3 - "$rule" <<'P'
import json, sys
stats = json.load(open("s.json"))
ratio = stats["peak_memory_bytes"] / stats["predicted_memory_bytes"]
print(sys.argv[1], "as stated" if 0.4 < ratio < 1.3 else f"{ratio:.2f} times what was stated")
P
done
