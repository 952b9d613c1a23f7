# All pairs by the true measure; the same for every number of threads; flat reports its recall.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 60 3 80 >d.jsonl
for measure in cosine jaccard; do
    "$COGNATE" pairs d.jsonl --measure $measure --threads 1 >one.tsv
    echo "$measure: exit $?, $(($(wc -l <one.tsv) - 1)) pairs"
    "$COGNATE" pairs d.jsonl --measure $measure --threads 2 | cmp - one.tsv && echo "threads: same"
    "$COGNATE" pairs d.jsonl --measure $measure --method flat --recall 1 --quiet | cut -f 1-3 >flat.tsv
    cut -f 1-3 one.tsv | cmp - flat.tsv && echo "flat at recall 1: same"
    "$COGNATE" pairs d.jsonl --measure $measure --method flat --recall 0.999 2>&1 >/dev/null | sed 's/(.*//'
done
head -n 3 one.tsv
head -n 90 d.jsonl >a.jsonl
tail -n 90 d.jsonl >b.jsonl
"$COGNATE" pairs a.jsonl --against b.jsonl --threshold 0.9
echo "between: exit $?"
cp a.jsonl copy.jsonl
"$COGNATE" pairs a.jsonl --against copy.jsonl --threshold 1 | tail -n +2 | awk '$1 == $2' | wc -l
"$COGNATE" pairs d.jsonl --format jsonl --threshold 0.97 | head -n 2
"$COGNATE" sign d.jsonl -o s.npy
"$COGNATE" pairs s.npy --radius 60 | head -n 3
"$COGNATE" pairs s.npy --against s.npy --radius 0 | wc -l
"$COGNATE" pairs d.jsonl --memory 1M 2>&1
echo "exit $?"
"$COGNATE" pairs d.jsonl --threshold 0 2>&1
echo "exit $?"
"$COGNATE" pairs s.npy d.jsonl 2>&1
echo "exit $?"
"$COGNATE" pairs s.npy s.npy 2>&1
echo "exit $?"
"$COGNATE" pairs - --against - <d.jsonl 2>&1
echo "exit $?"
"$COGNATE" pairs d.jsonl -o no/such/folder 2>&1
echo "exit $?"
"$COGNATE" pairs d.jsonl -o same --stats same 2>&1
echo "exit $?"
"$COGNATE" pairs --version
python3 -c 'for i in range(9000): print("{\"id\": \"%d\", \"text\": \"the very same words in every one of these documents\"}" % i)' >equal.jsonl
"$COGNATE" pairs equal.jsonl --memory 60M --threads 2 2>&1 >/dev/null | sed 's/more than [0-9]* /more than N /'

# A least frequency drops terms by BM25 and TF-IDF alone, in every command.
printf '{"id": "%s", "text": "%s"}\n' x 'red green blue' y 'red green white' z 'red green' >least.jsonl
for weighting in bm25 binary tf; do
    options="--weighting $weighting --min-frequency 2 --lang none --stem no --stop-words keep --quiet"
    "$COGNATE" pairs least.jsonl --threshold 0.5 $options | grep '^x.y'
    "$COGNATE" pairs least.jsonl --threshold 0.5 $options --memory 45M | grep "^x.y"
    "$COGNATE" search least.jsonl least.jsonl --threshold 0.5 $options | grep '^x.*y'
    "$COGNATE" explain x y --from least.jsonl ${options% --quiet} 2>&1 >explained | grep cosine
done
