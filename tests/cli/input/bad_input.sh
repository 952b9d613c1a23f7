# Bad records are skipped, counted and named; --strict ends at the first; nothing is half-written.
printf '{"id": "a", "text": "one good document with enough words"}\n{"id": "b", "text": oops}\n{"id": "c"}\n{"id": "d", "text": "\xff bytes"}\n{"id": "e", "text": ""}\n{"id": "f", "text": "another good document of some words"}' >d.jsonl
"$COGNATE" sign d.jsonl --threads 2 -o s.npy --signature simhash --ids ids 2>&1 | sed 's/: .*offset [0-9]*//'
cat ids
"$COGNATE" sign d.jsonl -o strict.npy --strict >/dev/null 2>&1
echo "strict: exit $?"
[ -e strict.npy ] || echo "no strict.npy"
ls | grep -c tmp
"$COGNATE" sign missing.jsonl -o s2.npy 2>&1
echo "exit $?"
gzip -c d.jsonl | head -c 100 >cut.jsonl.gz
"$COGNATE" sign cut.jsonl.gz --threads 2 -o s2.npy 2>&1
echo "exit $?"
"$COGNATE" sign d.jsonl -o /dev/full --signature simhash >/dev/null 2>&1
echo "full disk: exit $?"
"$COGNATE" sign d.jsonl -o s2.npy --bits 100 2>&1
echo "exit $?"
"$COGNATE" sign d.jsonl 2>&1
echo "exit $?"
"$COGNATE" sign d.jsonl -o s2.npy --bogus 2>&1
echo "exit $?"
[ -e s2.npy ] || echo "no s2.npy"
printf '{"id": "x", "text": "the same id twice in this file"}\n{"id": "x", "text": "the same id twice in this file too"}\n' >twice.jsonl
"$COGNATE" pairs twice.jsonl 2>&1
echo "exit $?"
mkdir empty
"$COGNATE" pairs empty 2>&1
echo "exit $?"
# The report of a job is an output like others: whole or not at all.
"$COGNATE" pairs twice.jsonl --quiet -o pairs.tsv --stats /dev/full 2>&1
echo "exit $?"
printf '{"id": 1, "text": "a b c"}\n{"id": 1, "text": "a b c d"}\nno json\n' >three.jsonl
"$COGNATE" dedup three.jsonl -o kept.jsonl --stats stats.json.gz 2>&1 | tail -n 1
gzip -dc stats.json.gz | grep duplicate
# An id with a NUL character could not be named again; in the text it is a character like others.
printf '{"id": "a\\u0000b", "text": "one two three four"}\n{"id": "c", "text": "one two\\u0000three four"}\n' >nul.jsonl
printf 'id,text\na\0b,one two three four\nc,one two three four\n' >nul.csv
printf 'word\0word\turl\t3\nplain\turl\t2\n' >nul.tsv
for input in nul.jsonl nul.csv "nul.tsv --input-format querylog"; do
    "$COGNATE" sign $input --threads 2 -o n.npy --signature simhash --ids ids 2>&1
    echo "$(cat ids)"
done
"$COGNATE" index build N nul.jsonl --strict 2>&1 | tail -n 1
