# Sentence pairs of linked documents: formats, threads, what is joined, what is read back.
python3 - <<'PYTHON'
import json, random
rng = random.Random(4)
words = [f"vo{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmn"]
partner = {word: "e" + word[2:] + "o" for word in words}
with open("table.tsv", "w") as table:
    for word in words:
        print(word, partner[word], 1, sep="\t", file=table)
source, target = open("from.jsonl", "w"), open("to.jsonl", "w")
truth = open("truth.tsv", "w")
for number in range(30):
    here, there = [], []
    for _ in range(rng.choice([3, 40, 90])):
        drawn = [rng.choice(words) for _ in range(10)]
        a, b = " ".join(drawn).capitalize() + ".", " ".join(partner[w] for w in drawn).capitalize() + "."
        if rng.random() < 0.1:  # two sentences there
            b = " ".join(partner[w] for w in drawn[:5]).capitalize() + ". " + " ".join(partner[w] for w in drawn[5:]).capitalize() + "."
        if rng.random() < 0.05:
            a = a[:-1] + " & <b>\\x</b>\uffff\x01\tvoend."
            b = b[:-1] + " & <b>\\x</b>\uffff\x01\tvoend."
        if rng.random() < 0.9:
            here.append(a)
        if rng.random() < 0.9:
            there.append(b)
        if here and there and here[-1] == a and there[-1] == b:
            print(json.dumps([a, b]), file=truth)
    print(json.dumps({"id": f"from {number}", "text": " ".join(here)}), file=source)
    print(json.dumps({"id": f"to <{number}>", "text": " ".join(there)}), file=target)
PYTHON
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
sentences() { "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --one-to-one --sentences --quiet "$@"; }
sentences --threads 1 --stats stats.json >pairs.tsv
head -n 1 pairs.tsv
for threads in 2 3 7; do sentences --threads $threads | cmp - pairs.tsv && echo "$threads threads: same"; done
sentences -o pairs.tmx
sentences --format tmx --threads 3 | cmp - pairs.tmx && echo "tmx by its name and by the option: same"
sentences -o pairs.tmx.gz && gzip -cd pairs.tmx.gz | cmp - pairs.tmx && echo "compressed tmx: same"
sentences -o named.tmx --format tsv && cmp named.tmx pairs.tsv && echo "the option decides: same"
sentences --format jsonl >pairs.jsonl
python3 - <<'PYTHON'
import json, re, xml.etree.ElementTree as xml
def plain(text):
    out, at = [], 0
    while at < len(text):
        two = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}.get(text[at:at + 2])
        out.append(two or text[at])
        at += 2 if two else 1
    return "".join(out)
rows = [[plain(field) for field in line.split("\t")] for line in open("pairs.tsv").read().split("\n")[1:-1]]
objects = [json.loads(line) for line in open("pairs.jsonl")]
names = ["from", "to", "similarity", "from_id", "to_id", "score"]
print("jsonl:", all([row[0], row[1], float(row[2]), row[3], row[4], float(row[5])] == [item[name] for name in names]
                    for row, item in zip(rows, objects, strict=True)))
root, lang = xml.parse("pairs.tmx").getroot(), "{http://www.w3.org/XML/1998/namespace}lang"
print(root.tag, root.get("version"), sorted(root.find("header").attrib.items()))
units = [({p.get("type"): p.text for p in unit.iter("prop")}, {v.get(lang): v.find("seg").text for v in unit.iter("tuv")})
         for unit in root.iter("tu")]
def in_xml(text):  # which cannot hold some characters
    return re.sub("[\uffff\x01\t]", " ", text)
print("tmx:", all(unit[0] == {"similarity": row[2], "score": row[5], "from_id": row[3], "to_id": row[4]} and
                  unit[1] == {"vo": in_xml(row[0]), "eo": in_xml(row[1])}
                  for row, unit in zip(rows, units, strict=True)))
truth = {tuple(json.loads(line)) for line in open("truth.tsv")}
right = sum((row[0], row[1]) in truth for row in rows)
print(right >= 0.98 * len(rows), right >= 0.98 * len(truth), sum(". " in row[1] for row in rows) > 50,
      all(float(row[5]) >= 0.5 for row in rows))
stats = json.load(open("stats.json"))
print(stats["sentence_pairs"] == len(rows), stats["compared_sentences"] < 50 * stats["from_sentences"])
PYTHON
sentences --memory 42M | cmp - pairs.tsv && echo "vectors from disk: same"
# Our own reader takes both files back, with as many pairs.
train() { "$COGNATE" lexicon train "$1" --from vo --to eo --min-count 1 -o "$2" 2>&1 | sed 's/;.*//'; }
train pairs.tsv tsv.lex
train pairs.tmx tmx.lex
# A higher score leaves a part of the pairs, and none that the lower one does not have.
sentences --sentence-threshold 1.9 >few.tsv
[ "$(wc -l <few.tsv)" -lt "$(wc -l <pairs.tsv)" ] && awk -F '\t' 'NR > 1 && $6 < 1.9' few.tsv | wc -l
for wrong in '--format npy' '--sentence-threshold 3' '--explain from0' '--memory 40M'; do sentences $wrong 2>&1; echo "exit $?"; done
"$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --format tmx 2>&1
"$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --sentence-threshold 0.4 2>&1
