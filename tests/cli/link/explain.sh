# Why two documents of one language match: words, shares that sum to 1, the cosine that pairs lists.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 40 3 60 >d.jsonl
"$COGNATE" pairs d.jsonl --threshold 0.3 --quiet >pairs.tsv
read -r a b cosine < <(sed -n 2p pairs.tsv | cut -f 1-3 | tr '\t' ' ')
"$COGNATE" explain "$a" "$b" --from d.jsonl >why.tsv 2>said
echo "exit $?"
head -n 1 why.tsv
[ "$(cat said)" = "cosine $cosine" ] && echo "cosine: same"
python3 - "$a" "$b" <<'PYTHON'
import json, re, sys
texts = {}
for line in open("d.jsonl"):
    record = json.loads(line)
    texts[record["id"]] = record["text"].lower()
rows = [line.split("\t") for line in open("why.tsv").read().splitlines()[1:]]
shares = [float(row[3]) for row in rows]
print(len(rows) > 5, abs(sum(shares) - 1) < 1e-4, shares == sorted(shares, reverse=True))
print(all(row[0] == row[1] and row[2] == "1.000000" for row in rows), len({row[0] for row in rows}) == len(rows))
# A stem begins a word of both documents.
print(all(any(word.startswith(row[0][:3]) for word in re.findall(r"\w+", texts[id])) for row in rows for id in sys.argv[1:]))
PYTHON
# The two may stand in two collections; then both count.
grep -F "\"$a\"" d.jsonl >first.jsonl
grep -vF "\"$a\"" d.jsonl >others.jsonl
"$COGNATE" explain "$a" "$b" --from first.jsonl --to others.jsonl --quiet | cmp - why.tsv && echo "two collections: same"
"$COGNATE" explain "$a" "$a" --from d.jsonl 2>&1 >/dev/null
printf 'The quick brown fox\n' >x.txt
printf 'the quick red fox jumps\n' >y.txt
"$COGNATE" explain x.txt y.txt --stop-words keep --min-frequency 1 2>&1
"$COGNATE" explain x.txt y.txt --stop-words keep --tokens chars --ngram 5 --min-frequency 1 --quiet | head -n 3
printf 'nothing shared\n' >z.txt
"$COGNATE" explain x.txt z.txt
echo "exit $?"
"$COGNATE" explain "$a" nobody --from d.jsonl 2>&1
echo "exit $?"
"$COGNATE" explain "$a" "$b" --to d.jsonl 2>&1
echo "exit $?"
"$COGNATE" explain x.txt y.txt --unknown drop 2>&1
echo "exit $?"
