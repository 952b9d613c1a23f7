# One of each cluster stays, records are kept byte for byte in every format.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 40 3 80 >d.jsonl
"$COGNATE" dedup d.jsonl -o kept.jsonl --clusters c.tsv
echo "exit $?, kept $(wc -l <kept.jsonl)"
grep -cFxf d.jsonl kept.jsonl
head -n 3 c.tsv
"$COGNATE" dedup kept.jsonl -o again.jsonl && cmp kept.jsonl again.jsonl && echo "nothing more to remove"
"$COGNATE" dedup d.jsonl -o - --threads 1 --quiet | cmp - kept.jsonl && echo "standard output: same"
python3 - <<'P'
import csv, json
rows = [json.loads(line) for line in open("d.jsonl")]
with open("d.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["id", "text", "note"])
    out.writerows([r["id"], r["text"].replace(" ", "\n", 1), 'a "quoted", note'] for r in rows)
import os
os.makedirs("folder/inner")
for r in rows[:6]:
    open(f"folder/inner/{r['id']}.txt", "w").write(r["text"])
P
"$COGNATE" dedup d.csv -o kept.csv
head -n 1 kept.csv
python3 -c 'import csv; print(len(list(csv.reader(open("kept.csv", newline="")))) - 1, "rows")'
"$COGNATE" dedup folder -o kept
find kept -type f | sort
"$COGNATE" dedup "$PWD"/folder/inner/*.txt ./folder/../d.csv --input-format txt -o named --quiet
find named -type f | sed "s|$PWD|/HERE|" | sort
mkdir -p other/other
echo 'one text of some words' >other/a.txt
echo 'quite another one' >other/other/a.txt
(cd other && "$COGNATE" dedup ../other/a.txt other/a.txt -o twice 2>&1; echo "exit $?"; ls)
printf 'the very same line of text\nanother line that is different\nthe very same line of text\n' >lines.txt
"$COGNATE" dedup lines.txt --lines -o -
printf '{"id": "a", "text": "some words in a record"}\nnot json\n{"id": "b", "text": "other terms of a page"}' >bad.jsonl
"$COGNATE" dedup bad.jsonl -o good.jsonl --rejects rejects.txt --quiet
cat good.jsonl
echo
cat rejects.txt
"$COGNATE" dedup d.jsonl d.csv -o mixed 2>&1
echo "exit $?"
# Marks and line ends that some files have and others not.
printf '{"id": "n1", "text": "alpha beta gamma delta epsilon"}\n' >plain.jsonl
printf '\xef\xbb\xbf{"id": "n2", "text": "one two three four five six"}\r\n' >marked.jsonl
"$COGNATE" dedup plain.jsonl marked.jsonl -o - --quiet | od -An -c | grep -c 357
"$COGNATE" dedup marked.jsonl plain.jsonl -o - --quiet | head -c 4 | od -An -c
printf 'id,text\n1,hello world of words\n' >plain.csv
printf '\xef\xbb\xbfid,text\r\n2,quite another text here\r\n' >marked.csv
"$COGNATE" dedup plain.csv marked.csv -o - --quiet | od -An -c
mkdir packed
echo 'a text in a compressed file' | gzip >packed/a.txt.gz
echo 'and one in a plain file' >packed/b.txt
"$COGNATE" dedup packed -o unpacked --quiet
cat unpacked/a.txt unpacked/b.txt
# The report says that the answer is exact, against documents and an index too.
"$COGNATE" index build reference plain.jsonl --measure jaccard --quiet
for against in "" "--against plain.jsonl" "--against reference"; do
    "$COGNATE" dedup marked.jsonl $against -o kept.jsonl --stats stats.json --quiet
    grep -o '"recall": "[a-z ]*"' stats.json
done
