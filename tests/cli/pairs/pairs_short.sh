# Pairs of sentences of a few words: signatures miss some at any radius, so pairs of documents with few terms are found by
# their terms. Every target is reached, within a collection and between two; pairs_documents_disk compares with disk.
python3 - <<'END'
import json
import random
dice = random.Random(3)
weights = [1 / (rank + 1) for rank in range(3000)]
for name, count in ("a", 3000), ("b", 1000):
    with open(f"{name}.jsonl", "w", encoding="utf-8") as file:
        for i in range(count):
            words = dice.choices(range(3000), weights, k=dice.choice((1, 2, 2, 3, 3, 4, 6, 20)))
            file.write(json.dumps({"id": f"{name}{i}", "text": " ".join(f"w{word}" for word in words)}) + "\n")
END
options="--threshold 0.6 --quiet"
unequal() { # pairs that are not nearly equal
    awk 'NR > 1 && $3 < 0.9 { print $1, $2, $3 }' | sort
}
"$COGNATE" pairs a.jsonl --method exact $options | unequal >truth
"$COGNATE" pairs a.jsonl --against b.jsonl --method exact $options | unequal >across
[ $(wc -l <truth) -gt 1000 ] && [ $(wc -l <across) -gt 500 ] || echo "few pairs"
reached() { # truth, found, recall
    local all=$(wc -l <$1) good=$(comm -12 $1 $2 | wc -l)
    [ $(comm -13 $1 $2 | wc -l) -eq 0 ] || echo "pairs that are none"
    awk "BEGIN { exit !($good >= $3 * $all) }" && echo reached || echo "missed: $good of $all"
}
for method in flat lsh window; do
    for recall in 0.8 0.95 0.99; do
        "$COGNATE" pairs a.jsonl --method $method --recall $recall $options >found
        unequal <found >rows
        "$COGNATE" pairs a.jsonl --against b.jsonl --method $method --recall $recall $options | unequal >beside
        echo "$method $recall $(reached truth rows $recall) $(reached across beside $recall)"
    done
done
cut -f 4 found | grep -q -e '^-$' && echo "pairs without a distance"
# Knobs promise no recall: the pairs are those of the method alone.
for knobs in "lsh --key-bits 8 --tables 10 --flips 0" "window --tables 10 --window 50"; do
    "$COGNATE" pairs a.jsonl --method $knobs $options | cut -f 4 | grep -q -e '^-$' && echo "$knobs: more pairs"
done
