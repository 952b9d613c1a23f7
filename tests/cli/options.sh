# What an option cannot do here is refused, not ignored; signatures come plain, compressed or through a pipe.
here=$(dirname "$0")
python3 "$here/make_documents.py" 60 3 60 >d.jsonl
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
