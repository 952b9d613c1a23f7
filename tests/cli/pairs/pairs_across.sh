# Pairs across languages: the exact join against plain loops, every method against the exact join.
here=$(dirname "$0")
python3 "$here/../two_languages.py" write .
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
across() { "$COGNATE" pairs from.jsonl --against to.jsonl --lexicon vo-eo.lex --quiet "$@"; }
python3 "$here/../two_languages.py" brute . 0.12 >brute.tsv
across --threshold 0.12 --method exact --stats exact.json >exact.tsv
echo "exit $?"
head -n 1 exact.tsv
# The same pairs, and cosines that differ by rounding at most.
python3 - <<'PYTHON'
brute = [line.split("\t") for line in open("brute.tsv").read().splitlines()]
exact = [line.split("\t") for line in open("exact.tsv").read().splitlines()[1:]]
print(len(brute) > 200, [r[:2] for r in brute] == [r[:2] for r in exact])
print(max(abs(float(x[2]) - float(y[2])) for x, y in zip(brute, exact)) < 3e-6)
PYTHON
across --threshold 0.12 | cmp - exact.tsv && echo "auto: same"
cut -f 1-3 exact.tsv | sort >sorted.tsv
for method in lists flat window lsh; do
    across --threshold 0.12 --method $method --recall 0.99 --threads 1 --stats $method.json >one.tsv
    across --threshold 0.12 --method $method --recall 0.99 --threads 2 | cmp - one.tsv && echo "$method, threads: same"
    echo "$method: $(cut -f 1-3 one.tsv | sort | comm -13 sorted.tsv - | wc -l) false," \
        "$(python3 -c "
import json
found = $(wc -l <one.tsv) - 1
true = $(wc -l <exact.tsv) - 1
measured = json.load(open('$method.json'))['measured_recall']
print('recall above 0.97:', found / true > 0.97, '; as measured:', abs(measured - found / true) < 1e-6)")"
done
across --threshold 0.12 --method flat --recall 1 | cut -f 1-3 | cmp - <(cut -f 1-3 exact.tsv) && echo "flat, recall 1: same"
across | tail -n +2 | awk '$3 < 0.35' | wc -l
across --stem no 2>&1
echo "exit $?"
"$COGNATE" pairs from.jsonl to.jsonl --lexicon vo-eo.lex 2>&1
echo "exit $?"
across --measure jaccard 2>&1
echo "exit $?"
"$COGNATE" pairs from.jsonl --against to.jsonl --unknown drop 2>&1
echo "exit $?"
"$COGNATE" pairs from.jsonl --against to.jsonl --lexicon table.tsv 2>&1
echo "exit $?"
# Documents that name their languages tell when the sides are exchanged.
for side in from to; do
    python3 -c "
import json
for line in open('$side.jsonl'):
    print(json.dumps({**json.loads(line), 'lang': {'from': 'vo', 'to': 'eo'}['$side']}))" >named_$side.jsonl
done
"$COGNATE" pairs named_from.jsonl --against named_to.jsonl --lexicon vo-eo.lex --threshold 0.12 --quiet | wc -l
"$COGNATE" pairs named_to.jsonl --against named_from.jsonl --lexicon vo-eo.lex --threshold 0.12 --quiet 2>&1
echo "exit $?"
