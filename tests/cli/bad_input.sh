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
