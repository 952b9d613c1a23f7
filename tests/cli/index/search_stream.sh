# A file of signatures whose tables exceed the memory budget is searched in chunks; the answer is that of one table.
here=$(dirname "$0")
python3 "$here/../make_signatures.py" 60000 8000
search() { "$COGNATE" search rows.npy queries.npy --radius 3 --quiet --stats stats.json "$@"; }
chunks() { grep '"chunks"' stats.json; }
search --method flat >flat.tsv
[ "$(wc -l <flat.tsv)" -gt 4000 ] && echo "there are pairs"
search --method bphs | cmp - flat.tsv && echo "bphs in memory: the same" && chunks
search --method bphs --memory 44M | cmp - flat.tsv && echo "bphs in chunks: the same" && chunks
search --method bphs --memory 44M --blocks 4 | cmp - flat.tsv && echo "with four tables: the same" && chunks
search --method bphs --memory 44M --first | tail -n +2 | cut -f 1 >first.bphs
tail -n +2 flat.tsv | cut -f 1 | sort -un | cmp - first.bphs && echo "bphs first: each query that has any, once"
all=$(wc -l <flat.tsv)
for memory in 1G 42M; do
    search --method psm --weights weights.npy --memory $memory >psm.tsv
    chunks
    found=$(wc -l <psm.tsv)
    [ $((found * 100)) -ge $((all * 93)) ] && [ $((found * 100)) -le $((all * 97)) ] && echo "psm: 0.95 was asked for"
    tail -n +2 psm.tsv | cut -f 1,3,5 | sort >a
    tail -n +2 flat.tsv | cut -f 1,3,5 | sort >b
    comm -23 a b | wc -l
done
search --method psm --weights weights.npy --memory 42M --threads 1 | cmp - psm.tsv && echo "one thread: the same"
search --method psm --weights weights.npy --memory 42M --flips 5 >few.tsv
search --method psm --weights weights.npy --memory 42M --flips 50 >many.tsv
[ "$(wc -l <few.tsv)" -lt "$(wc -l <many.tsv)" ] && echo "more flips find more"
search --method psm --weights weights.npy --memory 42M --header 20 2>&1
search --method bphs --memory 30M 2>&1
echo "exit $?"
search --method psm 2>&1
