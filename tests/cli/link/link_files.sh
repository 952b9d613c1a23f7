# Links between two made-up languages: the command, its score, the score of its file, and why two documents match.
here=$(dirname "$0")
python3 "$here/../two_languages.py" write .
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
"$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --gold gold.tsv --quiet >links.tsv 2>scores
cat scores
head -n 1 links.tsv
"$COGNATE" eval links links.tsv --gold gold.tsv
# Every second link is wrong, one known link is not there, one is listed twice.
{ printf 'from\tto\tsimilarity\tscore\n'
  for i in 0 1 2 3; do printf 'from%d\tto%d\t0.5\t0.%d\n' $i $((i / 2 * 2)) $((9 - i)); done; } >made.tsv
printf 'from0\tto0\nfrom1\tto1\nfrom2\tto2\nfrom0\tto0\nodd\\tid\tto4\n' >some.tsv
"$COGNATE" eval links made.tsv --gold some.tsv
printf 'odd\\tid\tto4\n' >odd.tsv
"$COGNATE" eval links odd.tsv --gold some.tsv
"$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --gold some.tsv --quiet 2>&1 >links2.tsv | tail -n 1
# Whatever proposes candidates, their cosines are the true ones; the recall is measured, threads change nothing.
for method in exact lists flat slices lsh window; do
    "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --method $method --quiet \
        --stats $method.json --threads 1 >one.tsv
    "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --method $method --quiet \
        --threads 2 | cmp - one.tsv && echo "$method, threads: same"
    cut -f 1-3 one.tsv | cmp - <(cut -f 1-3 links.tsv) && echo "$method: same"
    grep -E '"(recall|measured_recall)":' $method.json
done
echo "lists planned by documents of a sample: $(grep -c '"list_products": [1-9]' lists.json)"
"$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --method psm 2>&1
echo "exit $?"
# A method's knobs are those of pairs: they change what is found, and another method's are refused.
link_by() {
    "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --quiet "$@" 2>&1
}
link_by --method lsh --key-bits 16 --tables 1 --flips 0 | wc -l | tr -d ' '
link_by --method lsh --key-bits 4 --tables 40 | cut -f 1-3 | cmp - <(cut -f 1-3 links.tsv) && echo "many tables: same"
link_by --method window --tables 40 --window 9 | cut -f 1-3 | cmp - <(cut -f 1-3 links.tsv) && echo "many windows: same"
link_by --method lists --recall 1
link_by --method exact --key-bits 16
link_by --method lists --window 9
link_by --tables 9
link_by --method lists --bits 512
link_by --method lsh --recall 1
link_by --method lsh --recall 1.5
link_by --method lsh --recall 0
link_by --method lsh --key-bits 7
# Shares of the cosine sum to 1, a word stands for itself with probability 1, translations have those of the table.
"$COGNATE" explain from7 to7 --from from.jsonl --to to.jsonl --lexicon vo-eo.lex >why.tsv 2>cosine
python3 - <<'PYTHON'
rows = [line.split("\t") for line in open("why.tsv").read().splitlines()]
table = {tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in open("table.tsv").read().splitlines()}
print(rows[0])
rows = [(a, b, float(p), float(share)) for a, b, p, share in rows[1:]]
print(abs(sum(row[3] for row in rows) - 1) < 1e-4, rows == sorted(rows, key=lambda row: -row[3]))
print([row[:3] for row in rows if row[0].startswith("zz")])
print(all(abs(table[row[:2]] - row[2]) < 1e-6 for row in rows if not row[0].startswith("zz")))
link = next(line for line in open("links.tsv") if line.startswith("from7\t")).split("\t")
print(open("cosine").read() == f"cosine {link[2]}\n")
PYTHON
"$COGNATE" explain from7 nobody --from from.jsonl --to to.jsonl --lexicon vo-eo.lex 2>&1
echo "exit $?"
"$COGNATE" explain from7 to7 --lexicon vo-eo.lex --from from.jsonl 2>&1
echo "exit $?"
head -n 2 table.tsv | cut -f 1 | tr '\n' ' ' >a.txt
head -n 2 table.tsv | cut -f 2 | tr '\n' ' ' >b.txt
"$COGNATE" explain a.txt b.txt --lexicon vo-eo.lex --quiet | wc -l
"$COGNATE" eval links links.tsv 2>&1
echo "exit $?"
# Without a threshold, links are kept by the wanted precision: those of the largest probabilities; with one, by the cosine.
every() { "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --quiet "$@"; }
every --threshold -1 >all.tsv
cmp all.tsv <(every --precision 0.001) && echo "a low precision: every link that is more likely right than wrong"
every --stats decided.json | cmp - all.tsv
grep -E '"(wanted|expected)_precision":' decided.json
every -k 3 | awk -F '\t' 'NR > 1 { links[$1]++; if (links[$1] == 1) first += $5 > 0.5; else rest += $5 > 0.5 }
    END { for (id in links) three += links[id] == 3; print three, first, rest }'
for wrong in '--precision 0' '--precision 2' '--precision 0.9 --threshold 0.3' '-k 2 --one-to-one' '-k 2 --precision 0.9'; do
    every $wrong 2>&1
done
# Half the documents lose their partners: the precision that is stated is the true one, within 0.03.
awk 'NR % 2' to.jsonl >half.jsonl
"$COGNATE" link --from from.jsonl --to half.jsonl --lexicon vo-eo.lex --quiet --stats half.json >half.tsv
python3 - <<'PYTHON'
import json
links = [line.split("\t") for line in open("half.tsv").read().splitlines()[1:]]
right = sum(row[0][4:] == row[1][2:] for row in links)
stats = json.load(open("half.json"))
print(abs(right / len(links) - stats["expected_precision"]) <= 0.03, right >= 70, 0.4 < stats["partnerless_share"] < 0.6)
PYTHON
awk -F '\t' 'NR == 1 || $3 >= 0.6' all.tsv | cmp - <(every --threshold 0.6) && echo "kept by cosine: same"
every --hubs 0 --threshold -1 | awk -F '\t' 'NR == 1 || $3 >= 0.35' | cmp - <(every --hubs 0) && echo "no hubs: same"
head -n 20 from.jsonl >few.jsonl
tail -n 20 to.jsonl >strangers.jsonl
"$COGNATE" link --from few.jsonl --to strangers.jsonl --lexicon vo-eo.lex --quiet | wc -l
# Known links that fit nothing: what they have in place of it.
across() { "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --quiet "$@"; }
awk -F '\t' '{ print $2 "\t" $1 }' gold.tsv >exchanged.tsv
across --gold exchanged.tsv 2>&1 >/dev/null
echo "exit $?"
"$COGNATE" eval links links.tsv --gold exchanged.tsv 2>&1
echo "exit $?"
: >empty.tsv
across --gold empty.tsv 2>&1 >/dev/null
"$COGNATE" eval links links.tsv --gold empty.tsv 2>&1
printf 'x\ty\nfrom0\tz\n' >foreign.tsv
across --gold foreign.tsv 2>&1 >/dev/null
printf 'x\ty\n' >foreign.tsv
"$COGNATE" eval links links.tsv --gold foreign.tsv 2>&1
# A budget that is too small is told before anything is read.
across --memory 1M 2>&1 >/dev/null
echo "exit $?"
"$COGNATE" explain from7 to7 --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --memory 1M --quiet 2>&1
echo "exit $?"
for number in $(seq 50000); do printf 'from%d\tto%d\t0.5\t0.5\n' "$number" "$number"; done >many.tsv
"$COGNATE" eval links many.tsv --gold many.tsv --memory 1M 2>&1
echo "exit $?"
"$COGNATE" eval links many.tsv --gold many.tsv --memory 10M | cut -d ' ' -f 1-6
# Whether probabilities are true: bins and curve, counted here once more. Ties of the curve stand in one line.
python3 - <<'PYTHON'
import random
random.seed(5)
rows = [(random.choice([0.02, 0.5, 0.949, 0.95, 0.98, 0.985, 1.0, round(random.random(), 6)]), number) for number in range(400)]
with open("stated.tsv", "w") as links, open("truth.tsv", "w") as known:
    print("from", "to", "similarity", "score", "probability", sep="\t", file=links)
    for probability, number in rows:
        print(f"from{number}", f"to{number}", "0.500000", "0.250000", f"{probability:.6f}", sep="\t", file=links)
        print(f"from{number}", f"to{number}" if random.random() < probability else "other", sep="\t", file=known)
PYTHON
"$COGNATE" eval links stated.tsv --gold truth.tsv --calibration bins.csv --curve curve.csv >/dev/null
head -n 1 bins.csv
head -n 1 curve.csv
python3 - <<'PYTHON'
import csv
known = {tuple(line.split()) for line in open("truth.tsv")}
links = [line.split() for line in open("stated.tsv").read().splitlines()[1:]]
links = [(float(row[4]), (row[0], row[1]) in known) for row in links]
starts = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 2]
near = lambda text, value: abs(float(text) - value) < 2e-6
bins, curve = list(csv.DictReader(open("bins.csv"))), list(csv.DictReader(open("curve.csv")))
expected = [(low, [link for link in links if low <= link[0] < high]) for low, high in zip(starts, starts[1:])]
expected = [(low, inside) for low, inside in expected if inside]
print(len(bins) == len(expected) > 10 and all(
    near(row["from"], low) and int(row["links"]) == len(inside) and int(row["right"]) == sum(right for _, right in inside)
    and near(row["stated"], sum(p for p, _ in inside) / len(inside))
    and near(row["true"], sum(right for _, right in inside) / len(inside))
    and float(row["low"]) <= float(row["true"]) <= float(row["high"]) for row, (low, inside) in zip(bins, expected)))
levels = sorted({p for p, _ in links}, reverse=True)
kept = [[link for link in links if link[0] >= level] for level in levels]
print(len(curve) == len(levels) and all(
    near(row["probability"], level) and int(row["links"]) == len(some) and int(row["right"]) == sum(r for _, r in some)
    and near(row["precision"], sum(r for _, r in some) / len(some)) and near(row["recall"], sum(r for _, r in some) / len(known))
    and near(row["stated"], sum(p for p, _ in some) / len(some)) for row, level, some in zip(curve, levels, kept)))
PYTHON
# The same as pictures: a point for each bin and each probability.
"$COGNATE" eval links stated.tsv --gold truth.tsv --calibration bins.svg --curve curve.svg --quiet >/dev/null
python3 - <<'PYTHON'
import xml.etree.ElementTree as xml
space = "{http://www.w3.org/2000/svg}"
lines = lambda name: len(open(name).read().splitlines()) - 1
print(len(xml.parse("bins.svg").findall(space + "circle")) == lines("bins.csv"),
      len(xml.parse("curve.svg").find(space + "polyline").get("points").split()) == lines("curve.csv"))
PYTHON
# The axis of precisions begins near the lowest of them.
awk 'BEGIN { for (i = 1; i <= 40; i++) print "a" i "\tb" i }' >steps.gold
awk 'BEGIN { print "from\tto\tsimilarity\tscore\tprobability"; for (i = 1; i <= 40; i++)
    printf "a%d\tb%d\t0.5\t0.5\t%.3f\n", i, i == 30 ? 1 : i, 1 - i / 100 }' >steps.tsv
"$COGNATE" eval links steps.tsv --gold steps.gold --curve steps.svg --quiet >/dev/null
python3 - <<'PYTHON'
import xml.etree.ElementTree as xml
space = "{http://www.w3.org/2000/svg}"
tree = xml.parse("steps.svg")
heights = [float(point.split(",")[1]) for point in tree.find(space + "polyline").get("points").split()]
precisions = [(n - (n >= 30)) / n for n in range(1, 41)]
labels = [float(t.text) for t in tree.findall(space + "text") if t.get("text-anchor") == "end"]
print(labels == [0.95, 0.96, 0.97, 0.98, 0.99, 1.0],
      all(abs(y - (20 + 400 * (1 - p) / 0.05)) < 0.06 for y, p in zip(heights, precisions)))
PYTHON
"$COGNATE" eval links stated.tsv --gold truth.tsv --curve - | sed -n 1,2p | cut -d , -f 1
"$COGNATE" eval links stated.tsv --gold truth.tsv --curve curve.svg.gz >/dev/null
gzip -cd curve.svg.gz | cmp - curve.svg && echo "compressed picture: same"
"$COGNATE" eval links stated.tsv --gold truth.tsv --curve curve.png 2>&1
# Links of other tools have no probabilities; a number that is none is named.
"$COGNATE" eval links made.tsv --gold some.tsv --curve none.csv 2>&1
echo "exit $?"
[ -e none.csv ] || echo "no curve"
printf 'from0\tto0\t0.5\t0.5\t1.5\n' >wrong.tsv
"$COGNATE" eval links wrong.tsv --gold some.tsv 2>&1
# The best link of a document is that of the best score, whatever the probabilities say.
printf 'from0\tto9\t0.5\t0.2\t0.9\nfrom0\tto0\t0.5\t0.4\t0.9\n' >scored.tsv
"$COGNATE" eval links scored.tsv --gold some.tsv
