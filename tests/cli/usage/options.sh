# What an option cannot do here is refused, not ignored; signatures come plain, compressed or through a pipe.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 60 3 60 >d.jsonl
"$COGNATE" sign d.jsonl --bits 64 -o s.npy --quiet
for options in 'd.jsonl --radius 3' 's.npy --measure jaccard' 's.npy --lang de' 's.npy --radius 3 --threshold 0.9' \
    'd.jsonl --flips 2' 'd.jsonl --window 10 --method lsh' 'd.jsonl --tables 4 --method flat' 'd.jsonl --lang xx' \
    'd.jsonl s.npy'; do
    "$COGNATE" pairs $options 2>&1
    echo "exit $?"
done
"$COGNATE" sign s.npy -o t.npy 2>&1
echo "exit $?"
"$COGNATE" pairs s.npy --radius 8 --quiet >plain.tsv
wc -l <plain.tsv
for packer in gzip bzip2 xz zstd; do
    $packer -c s.npy >s.npy.$packer
    "$COGNATE" pairs s.npy.$packer --radius 8 --quiet --input-format npy | cmp - plain.tsv && echo "$packer: the same"
done
mv s.npy.gzip packed.npy.gz
"$COGNATE" pairs packed.npy.gz --radius 8 --quiet | cmp - plain.tsv && echo "by its name: the same"
cat s.npy | "$COGNATE" pairs - --input-format npy --radius 8 --quiet | cmp - plain.tsv && echo "from a pipe: the same"
"$COGNATE" pairs - --input-format npy --radius 8 --quiet <s.npy | cmp - plain.tsv && echo "standard input: the same"
head -c 300 packed.npy.gz >cut.npy.gz
"$COGNATE" pairs cut.npy.gz --radius 8 2>&1
echo "exit $?"
printf '{"id": "a\\u001b[31mred", "text": "one"}\n{"id": "a\\u001b[31mred", "text": "two"}\n' >escape.jsonl
"$COGNATE" pairs escape.jsonl 2>&1 | cat -v
# Nothing that is read is overwritten; records that are all bad are an error, not an empty result.
for options in 'pairs d.jsonl -o d.jsonl' 'dedup d.jsonl -o k.jsonl --clusters ./d.jsonl' 'pairs s.npy -o s.npy' \
    'pairs d.jsonl --text-field body' 'pairs d.jsonl --stats -'; do
    "$COGNATE" $options 2>&1 | grep -v skipped
    echo "exit ${PIPESTATUS[0]}"
done
"$COGNATE" index build I d.jsonl --quiet
"$COGNATE" search I d.jsonl -o I/manifest 2>&1
echo "exit $?"
"$COGNATE" help >/dev/full
echo "full: exit $?"
echo old >target
ln -s target link
"$COGNATE" pairs d.jsonl -o link --quiet
[ -L link ] && head -n 1 target
# A file of results is judged by its ids.
"$COGNATE" search d.jsonl d.jsonl -k 5 --quiet >truth.tsv
sed '2,$s/\tf[0-9]*m/\tg0m/' truth.tsv >fake.tsv
"$COGNATE" eval neighbours fake.tsv truth.tsv -k 5 2>&1 | sed 's/[^ ]*: .*/refused/'
"$COGNATE" search d.jsonl d.jsonl -k 5 --method flat --no-verify --quiet >estimates.tsv
"$COGNATE" eval neighbours estimates.tsv truth.tsv -k 5 >measured
python3 - <<'P'
def lists(path):
    found = {}
    for line in list(open(path))[1:]:
        query, _, row, *_ = line.split("\t")
        found.setdefault(query, set()).add(row)
    return found
truth, found = lists("truth.tsv"), lists("estimates.tsv")
share = sum(len(truth[q] & found[q]) for q in truth) / sum(map(len, truth.values()))
measured = float(open("measured").read().split("recall@5\t")[1].split()[0])
print("as counted by ids" if abs(share - measured) < 1e-4 else (share, measured))
P
head -n 1 truth.tsv >empty.tsv
"$COGNATE" eval neighbours truth.tsv empty.tsv 2>&1
echo "exit $?"
"$COGNATE" eval signatures d.jsonl --signature simhash --sample 150 --quiet |
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "ratio") column = i } NR > 1 { print ($column > 0.9 && $column < 1.1) }'
# Options of another action, method or kind are refused; so are outputs that would destroy each other.
for options in 'index info I --method slices' 'index info I --threads 2' 'index check I --memory 2G' \
    'index remove I 1 --threads 2' 'index compact I --bits 64' 'index add I d.jsonl --radius 2' \
    'search I d.jsonl --slice-bits 12' 'search I d.jsonl --method flat --expand 1' 'search I d.jsonl --weights no.npy' \
    'pairs d.jsonl --measure jaccard --weighting bm25' 'sign d.jsonl -o t.npy --signature simhash --gaussian' \
    'sign d.jsonl -o t.npy --value-bits 8' 'dedup d.jsonl -o k.jsonl --format npy' \
    'sign d.jsonl -o t.npy --weights t.npy' 'sign d.jsonl -o t.npy --weights d.jsonl' 'pairs d.jsonl -o I' \
    'lexicon convert t.tsv --from de --to en -o t.lex --agree 3'; do
    "$COGNATE" $options 2>&1
    echo "exit $?"
done
