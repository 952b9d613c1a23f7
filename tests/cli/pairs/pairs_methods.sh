# Hash tables and windows: the same for every number of threads, and the exact pairs where nothing can be missed.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 60 3 80 >d.jsonl
"$COGNATE" pairs d.jsonl --threshold 0.9 --quiet | cut -f 1-3 >exact.tsv
echo "$(($(wc -l <exact.tsv) - 1)) pairs"
for method in lists lsh window; do
    "$COGNATE" pairs d.jsonl --threshold 0.9 --method $method --recall 0.99 --threads 1 --quiet >one.tsv
    "$COGNATE" pairs d.jsonl --threshold 0.9 --method $method --recall 0.99 --threads 2 --quiet | cmp - one.tsv &&
        echo "$method, threads: same"
    cut -f 1-3 one.tsv | comm -13 <(sort exact.tsv) <(cut -f 1-3 one.tsv | sort) | wc -l
done
"$COGNATE" pairs d.jsonl --threshold 0.9 --method lists --recall 1 --quiet | cut -f 1-3 | cmp - exact.tsv &&
    echo "lists, recall 1: same"
"$COGNATE" pairs d.jsonl --method lists --measure jaccard --quiet 2>&1
echo "exit $?"
"$COGNATE" pairs d.jsonl --threshold 0.9 --method window --tables 1 --window 1000 --recall 0.9999 --quiet | cut -f 1-3 |
    cmp - exact.tsv && echo "one window over everything: same"
head -n 90 d.jsonl >a.jsonl
tail -n 90 d.jsonl >b.jsonl
"$COGNATE" pairs a.jsonl --against b.jsonl --threshold 0.9 --quiet | cut -f 1-3 >between.tsv
for shared in "" --shared-window; do
    "$COGNATE" pairs a.jsonl --against b.jsonl --threshold 0.9 --method window --tables 1 --window 1000 \
        --recall 0.9999 $shared --quiet | cut -f 1-3 | cmp - between.tsv && echo "between $shared: same"
done
"$COGNATE" pairs d.jsonl --method lsh --no-verify --quiet 2>&1
echo "exit $?"
"$COGNATE" pairs d.jsonl --method lsh --key-bits 15 --tables 3 --quiet 2>&1
echo "exit $?"
# Without verification the estimates decide: none is below the threshold.
for options in '--method flat' '--method flat --recall 1' '--method window' '--method flat --measure jaccard'; do
    "$COGNATE" pairs d.jsonl $options --no-verify --threshold 0.9 --quiet |
        awk -v o="$options" 'NR > 1 {n++; if ($3 < 0.9) below++} END {print o ": " (n > 0 ? "estimates" : "none") ", " below + 0 " below"}'
done
# Signatures, all in memory or in pieces from disk.
python3 "$here/../make_documents.py" 30000 2 10 >many.jsonl
"$COGNATE" sign many.jsonl -o s.npy --quiet
"$COGNATE" pairs s.npy --radius 40 --method window --tables 8 --window 30 --quiet >memory.tsv
"$COGNATE" pairs s.npy --radius 40 --method window --tables 8 --window 30 --threads 2 --memory 10M --stats stats.json --quiet |
    cmp - memory.tsv && echo "from disk: same; $(grep -c '"pieces_on_disk": [1-9]' stats.json) report of pieces"
"$COGNATE" pairs s.npy --radius 40 --method window --memory 1M --quiet 2>/dev/null
echo "exit $?"
"$COGNATE" pairs s.npy --radius 40 --recall 0.9 2>&1
# Flips that are likelier to find something find more; one order across the tables is the default.
python3 "$here/../make_documents.py" 2000 3 60 >flips.jsonl
flipped() {
    "$COGNATE" pairs flips.jsonl --threshold 0.5 --method lsh --key-bits 16 --tables 10 --flips 2 --quiet "$@"
}
flipped | cmp - <(flipped --flip-mode across) && echo "flips across tables by default"
for mode in none random distance across; do
    flipped --flip-mode $mode --stats $mode.json >/dev/null
done
python3 - <<'PYTHON'
import json
recalls = [json.load(open(f"{mode}.json"))["measured_recall"] for mode in ("none", "random", "distance", "across")]
print("likelier flips find more" if recalls == sorted(set(recalls)) else recalls)
PYTHON
for mode in random distance; do
    flipped --measure jaccard --flip-mode $mode 2>&1 | wc -l | awk '{print ($1 > 1 ? "pairs" : "refused")}'
done
# Flips alone may be given: keys have as many bits at least.
for flips in 3 17; do
    "$COGNATE" pairs flips.jsonl --threshold 0.5 --method lsh --flips $flips --quiet --stats few.json >/dev/null
    echo "exit $?: $(grep -o '"flips": [0-9]*' few.json)"
done
# Documents without terms, and queries with few URLs, are not compared with anything.
{ head -n 30 d.jsonl; for i in $(seq 2000); do echo "{\"id\": \"empty $i\", \"text\": \"\"}"; done; } >empty.jsonl
for method in flat window lsh; do
    "$COGNATE" pairs empty.jsonl --method $method --quiet --stats empty.json >/dev/null
    grep -E '"(comparisons|recall_sample_rows)"' empty.json | tr -d ' \n' | awk -F '[:,]' -v method=$method \
        '{print method ": " ($2 <= 900 ? "few" : $2) " comparisons, " $4 " rows sampled"}'
done
# Signatures, sums and tables are told and counted before they are made; windows go to disk instead.
"$COGNATE" pairs many.jsonl --method lsh --key-bits 16 --tables 120 --flips 1 --threshold 0.9 --memory 175M 2>&1 >/dev/null | grep -c needs
for method in "lsh --key-bits 16 --tables 20 --flips 1" flat "window --tables 9 --window 30"; do
    "$COGNATE" pairs many.jsonl --method $method --threshold 0.9 --memory 65M -o beyond.tsv 2>notices.txt
    echo "$method: exit $? $(grep -o 'joined from scratch files' notices.txt)"
done
# Bands of whole minhash values, from threshold and recall or as they are given; what bands do not have is refused.
"$COGNATE" pairs flips.jsonl --measure jaccard --threshold 0.5 --quiet | cut -f 1-3 >sets.tsv
bands() {
    "$COGNATE" pairs flips.jsonl --measure jaccard --threshold 0.5 --method lsh --quiet --stats bands.json "$@" 2>&1
}
for given in "" "--tables 20" "--band-values 4" "--band-values 4 --tables 9" "--value-bits 8"; do
    bands $given | cut -f 1-3 | comm -13 <(sort sets.tsv) <(sort) | wc -l | tr '\n' ' '
    echo "wrong; $(grep -oE '"(tables|band_values)": [0-9]*' bands.json | tr '\n' ' ')$given"
done
bands --value-bits 32 --key-bits 12
bands --value-bits 32 --flips 1
bands --value-bits 32 --flip-mode random
bands --value-bits 1 --band-values 3
bands --band-values 4 --tables 33
# What cannot be is said before the first document is read.
for given in "--method lsh --recall 1" "--method window --recall 1" "--method lsh --signature minhash" \
    "--method window --signature minhash" "--method lsh --key-bits 4 --flips 5"; do
    "$COGNATE" pairs d.jsonl $given 2>&1
done
"$COGNATE" pairs s.npy --method window --recall 1 2>&1
"$COGNATE" pairs d.jsonl --method window --shared-window 2>&1
mkdir scratch
(ulimit -f 64 && trap '' XFSZ && TMPDIR=scratch "$COGNATE" pairs s.npy --radius 40 --method window --tables 8 --window 30 \
    --memory 10M --quiet -o full.tsv 2>&1) | sed "s|$PWD/||"
echo "exit ${PIPESTATUS[0]}"
