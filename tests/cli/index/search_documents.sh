# Neighbours of documents: true cosines, thresholds, formats, empty queries, the same for every number of threads.
here=$(dirname "$0")
cat >d.jsonl <<'DOCUMENTS'
{"id": "cat", "lang": "en", "text": "the cat sat on the mat and purred at the moon"}
{"id": "dog", "lang": "en", "text": "a dog barked at the moon over the hill"}
{"id": "fish", "lang": "en", "text": "fish swim in the deep blue sea"}
{"id": "nothing", "text": ""}
{"id": "cat2", "lang": "en", "text": "the cat sat on the mat and purred at the sun"}
DOCUMENTS
cat >q.jsonl <<'QUERIES'
{"id": "q1", "lang": "en", "text": "a cat on a mat"}
{"id": "empty", "text": ""}
{"id": "unknown", "text": "zebra xylophone"}
{"id": "tab\tid", "lang": "en", "text": "the moon over the sea"}
QUERIES
"$COGNATE" search d.jsonl q.jsonl 2>err
echo "exit $?"
grep -v 'needs about' err
"$COGNATE" search d.jsonl -k 1 --quiet <q.jsonl
"$COGNATE" search d.jsonl q.jsonl --threshold 0.5 --format jsonl --quiet
"$COGNATE" search d.jsonl q.jsonl -t 0.5 --method flat --quiet
"$COGNATE" search d.jsonl q.jsonl -t 0.5 -k 1 --quiet | tail -n +2 | cut -f 1-3
"$COGNATE" search d.jsonl q.jsonl --method flat --no-verify -k 1 --quiet | head -n 1
"$COGNATE" search d.jsonl d.jsonl -t 1 --quiet | tail -n +2 | cut -f 1-4
"$COGNATE" search d.jsonl q.jsonl -t 0.99 --quiet
echo "nothing found: exit $?"
: >none.jsonl
"$COGNATE" search none.jsonl q.jsonl --quiet
echo "nothing to search: exit $?"
"$COGNATE" search d.jsonl none.jsonl --quiet
echo "no queries: exit $?"
"$COGNATE" search d.jsonl q.jsonl -k 100 -o out.tsv --quiet && wc -l <out.tsv
python3 "$here/../make_documents.py" 40 3 60 >many.jsonl
for method in exact flat slices columns; do
    for threads in 1 2 3; do
        "$COGNATE" search many.jsonl many.jsonl --method $method --threads $threads --quiet >$method.$threads
    done
    cmp $method.1 $method.2 && cmp $method.1 $method.3 && echo "$method: the same for every number of threads"
    cut -f 1-4 $method.1 | grep -c -P '^(\S+)\t1\t\1\t1\.000000$'
done
cut -f 1-4 exact.1 >exact
"$COGNATE" search many.jsonl many.jsonl --method flat --recall 1 --quiet | cut -f 1-4 | cmp exact - &&
    echo "flat with a recall of 1: the same as exact"
for method in flat slices columns; do
    for recall in 0.5 0.9 0.99; do
        "$COGNATE" search many.jsonl many.jsonl --method $method --recall $recall 2>&1 >/dev/null |
            grep -o 'recall [01][.0-9]*\|exact' | awk -v method=$method -v wanted=$recall \
            '{ print method, wanted, ($1 == "exact" || $2 >= wanted ? "reached" : "missed, " $2) }'
        "$COGNATE" search many.jsonl many.jsonl --method $method --recall $recall --quiet >found
        "$COGNATE" eval neighbours found exact.1 --quiet | awk -v wanted=$recall \
            '/^recall@10/ { print "of all queries:", ($2 >= wanted - 0.03 ? "reached" : "missed, " $2) }'
    done
done
"$COGNATE" search many.jsonl many.jsonl --stats stats.json --quiet >/dev/null
grep '"recall"' stats.json
for wrong in '--method exact --radius 9' '--method exact --no-verify' '-t 0.5 --radius 9' \
    '--expand 2 --admit 3' '--signature minhash' '-k 0' '-t 2' '--memory 1M'; do
    "$COGNATE" search d.jsonl q.jsonl $wrong 2>&1 >/dev/null | grep -v 'no terms\|needs about'
done
"$COGNATE" search d.jsonl q.jsonl --memory 1M 2>/dev/null
echo "exit $?"
"$COGNATE" search nowhere q.jsonl 2>&1
echo "exit $?"
