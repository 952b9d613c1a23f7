# Inputs that cannot share an output, or that have the field for marks, are refused before documents are read: with
# --strict, reading would end at the bad first record.
row='a text of the table that is long enough'
printf 'id,text\n1,one,more\n2,%s\n' "$row" >first.csv
printf 'id,text,note\n3,%s,x\n' "$row" >wide.csv
printf 'text,id\n%s,4\n' "$row" >turned.csv
gzip -k turned.csv
printf '\xef\xbb\xbfid,text\r\n5,%s\r\n' "$row" >marked.csv
printf 'text,id\n' >bare.csv
: >empty.csv
printf 'not JSON\n{"id": "a", "text": "%s"}\n' "$row" >lines.jsonl
printf '[{"id": "b", "text": "%s"}]' "$row" >array.json
try() {
    echo "\$ cognate dedup $*"
    "$COGNATE" dedup "$@" 2>&1
    echo "exit $?"
}
for other in wide.csv turned.csv turned.csv.gz; do try first.csv $other -o out.csv --strict; done
try first.csv array.json -o out.csv --strict
try lines.jsonl array.json -o out.jsonl --strict
try first.csv -o out.csv --mark text --strict
try first.csv turned.csv -o folder/ --mark note --strict # files of a folder have their own headers
try turned.csv wide.csv -o folder/ --mark note
ls out.* folder 2>&1
echo "-- the first record with the field ends the job, before documents are compared"
printf '{"id": "a", "text": "%s", "dup": 1}\n' "$row" >taken.jsonl
try taken.jsonl -o out.jsonl --mark dup
try <(cat taken.jsonl) -o out.jsonl --mark dup 2>&1 | sed 's|/dev/fd/[0-9]*|FD|'
echo "-- files without records have any form, a byte order mark and line ends do not matter"
try turned.csv bare.csv empty.csv -o out.csv
try marked.csv bare.csv empty.csv -o out.csv
printf 'id,text\n6,%s\n' "$row" >plain.csv
try marked.csv plain.csv -o out.csv
echo "-- pipes are known when they are read"
try <(cat plain.csv) <(cat turned.csv) --input-format csv -o out.csv 2>&1 | sed 's|/dev/fd/[0-9]*|FD|g'
try <(tail -n 1 lines.jsonl) <(echo "$row") -o out.jsonl 2>&1 | sed 's|/dev/fd/[0-9]*|FD|g'
tail -n 1 lines.jsonl >line.jsonl
try line.jsonl <(cat line.jsonl) -o out.jsonl 2>&1 | sed 's|/dev/fd/[0-9]*|FD|g'
cmp line.jsonl out.jsonl && echo "one line"
echo "-- a document per file needs a folder"
echo "$row" >one.txt
for name in kept.txt kept.txt.gz kept.jsonl -; do try one.txt -o $name; done
try one.txt -o kept.txt --lines
try one.txt -o kept && ls kept
