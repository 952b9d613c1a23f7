# --mark in tables and JSON arrays: every document stays as it was, with one more field that says what was decided.
cat >write.py <<'P'
import csv, json
one = "the quick brown fox jumps over the lazy dog near the old river "
documents = [("a", one + "bank"), ('b "x", y', one + "bend"), ("c;d", "one document says\nnothing of the other, and \"stands\" alone"),
             ("e\\f", one + "bank"), ("g", "a lonely text; with | signs")]
for name, ends, delimiter in ("plain.csv", "\n", ","), ("crlf.csv", "\r\n", ","), ("semicolon.csv", "\n", ";"):
    with open(name, "w", newline="", encoding="utf-8-sig" if "crlf" in name else "utf-8") as out:
        rows = csv.writer(out, delimiter=delimiter, lineterminator=ends)
        rows.writerow(("id", "text", "note; here"))
        rows.writerows((*document, number) for number, document in enumerate(documents))
data = open("plain.csv", newline="").read()
open("open.csv", "w", newline="").write(data.rstrip("\n"))
open("bare.csv", "w", newline="").write(data.split("\n", 1)[1])
for name, delimiter in ("plain.tsv", "\t"), ("bar.tsv", "|"):
    with open(name, "w") as out:
        out.write(delimiter.join(("text", "id")) + "\n")
        for id, text in documents:
            out.write(text.replace("\n", " ").replace("|", "/") + delimiter + id + "\n")
        out.write("a row without a second field\n")
json.dump([{"id": id, "text": text} for id, text in documents], open("array.json", "w"), indent=1)
open("close.json", "w").write('[{"id":"a","text":"x y z"} , {"text":"x y z","id":"b"}]')
P
cat >check.py <<'P'
# Reads a marked table as Python's csv does, compares the other columns with the input, and prints the marks.
import csv, json, sys
before, after, delimiter, has_header = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] == "header"
def read(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        if path.endswith("tsv"):
            return [line.rstrip("\r\n").split(delimiter) for line in file]
        return list(csv.reader(file, delimiter=delimiter, strict=True))
old, new = read(before), read(after)
if has_header:
    print("column", new[0][-1])
width = len(old[0])
good = [row for row in old if len(row) == width]
print("the rest is the same" if [row[:-1] for row in new] == good else f"CHANGED: {new}")
for row in new[has_header:]:
    mark = json.loads(row[-1])
    print(mark.get("cluster"), mark["kept"], mark.get("twin"), mark.get("similarity"), mark.get("reason"))
P
python3 write.py
marked() { # input, output, delimiter, header or bare, options
    local input=$1 output=$2 delimiter=$3 header=$4
    shift 4
    echo "-- $input $*"
    "$COGNATE" dedup "$input" -o "$output" --mark "${mark:-dup}" --quiet "$@" 2>&1 && python3 check.py "$input" "$output" "$delimiter" $header
}
marked plain.csv m.csv , header
head -3 m.csv
marked crlf.csv m.csv , header
head -2 m.csv | cat -A
marked semicolon.csv m.csv ";" header --delimiter ";"
mark='is "it" one' marked plain.csv m.csv , header
marked open.csv m.csv , header
tail -c 20 m.csv | od -An -c
marked plain.csv m.csv , header --keep last
marked bare.csv m.csv , bare --no-header --text-field 2 --id-field 1
marked plain.tsv m.tsv $'\t' header
cat m.tsv
marked bar.tsv m.tsv "|" header --delimiter "|"
marked bar.tsv m2.tsv "|" header --delimiter "|" --threads 1
cmp m.tsv m2.tsv
mkdir in && cp plain.csv crlf.csv in
"$COGNATE" dedup in -o out/ --mark dup --quiet && head -qn 1 out/*.csv
cp plain.csv second.csv
"$COGNATE" dedup plain.csv second.csv -o both.csv --mark dup --quiet
grep -c '^id' both.csv
echo "-- JSON arrays"
"$COGNATE" dedup array.json -o m.json --mark dup --quiet && python3 -c "
import json
old, new = json.load(open('array.json')), json.load(open('m.json'))
for row in new: print(row.pop('dup'))
print(old == new)"
"$COGNATE" dedup close.json -o - --mark dup --quiet
echo "-- what cannot be"
printf 'text,dup\na b c,1\n' >taken.csv
printf 'text:dup\na b c:1\n' >colon.tsv
for input in taken.csv "colon.tsv --delimiter :"; do
    "$COGNATE" dedup $input -o "none.${input:6:3}" --mark dup 2>&1
    echo "exit $?"
done
"$COGNATE" dedup plain.tsv -o none.tsv --mark $'a\tb' 2>&1
"$COGNATE" dedup plain.csv -o none.csv --mark '' 2>&1
printf 'one line\n' >t.txt
"$COGNATE" dedup t.txt --lines -o none.txt --mark dup 2>&1
ls none.* 2>/dev/null
