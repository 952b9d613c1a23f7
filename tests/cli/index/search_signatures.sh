# Neighbours of signatures in .npy files: exhaustive, by slices, certified, by weights; measured by eval.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 300 3 60 >d.jsonl
"$COGNATE" sign d.jsonl --bits 256 -o s.npy --weights w.npy --quiet
"$COGNATE" search s.npy s.npy -k 2 --quiet | head -n 4
"$COGNATE" search s.npy s.npy -k 5 --quiet >flat.tsv
for options in '--recall 1' '--recall 1 --slice-bits 11' '--expand 3' '--weights w.npy'; do
    "$COGNATE" search s.npy s.npy -k 5 --method slices $options 2>err >slices.tsv
    cmp -s flat.tsv slices.tsv && echo "slices $options: the same" ||
        echo "slices $options: $(sed -n 's/.*\(recall [0-9]\).*/\1/p' err)"
done
"$COGNATE" search s.npy s.npy -k 5 --method slices --recall 1 --stats - --quiet -o out.tsv | grep '"recall"'
"$COGNATE" search s.npy s.npy -k 5 --method slices --expand 0 --measure-recall --stats - --quiet -o out.tsv | grep -c measured_recall
for threads in 1 2 3; do
    "$COGNATE" search s.npy s.npy --method slices --expand 1 --threads $threads --quiet >slices.$threads
done
cmp slices.1 slices.2 && cmp slices.1 slices.3 && echo "the same for every number of threads"
"$COGNATE" search s.npy s.npy --radius 60 --quiet >radius.tsv
"$COGNATE" search s.npy s.npy --radius 60 --method slices --quiet | cmp - radius.tsv && echo "radius: the same"
"$COGNATE" search s.npy s.npy --threshold 1 --quiet | wc -l
"$COGNATE" eval neighbours flat.tsv flat.tsv -k 5
"$COGNATE" search s.npy s.npy -k 5 --method slices --expand 0 --quiet >poor.tsv
"$COGNATE" eval neighbours poor.tsv flat.tsv -k 5 --bits 256 | sed 's/\(0\.[0-9]\).*/\1/'
"$COGNATE" index build I s.npy --method slices --quiet
"$COGNATE" eval neighbours I s.npy --method slices --recall 1 -k 5 | sed 's/\(ms.*\)\t.*/\1/'
# With a knob of the method, which the exhaustive answer does not have.
"$COGNATE" eval neighbours I s.npy --expand 9 -k 5 | sed 's/\(ms.*\)\t.*/\1/'
"$COGNATE" eval neighbours d.jsonl flat.tsv 2>&1
"$COGNATE" sign d.jsonl --bits 64 -o narrow.npy --weights narrow_w.npy --quiet
"$COGNATE" search s.npy narrow.npy --quiet 2>&1
echo "exit $?"
"$COGNATE" search s.npy s.npy --weights narrow_w.npy --method slices --quiet 2>&1
"$COGNATE" search s.npy d.jsonl --quiet 2>&1
"$COGNATE" search I s.npy --bits 64 2>&1
head -c 500 s.npy >cut.npy
"$COGNATE" search s.npy cut.npy --quiet 2>&1
echo "exit $?"
# Margins that are given to the build and to the search decide which lists are read, and the recall is known.
python3 "$here/../make_documents.py" 1000 3 60 >more.jsonl
"$COGNATE" sign more.jsonl --bits 256 -o more.npy --margins more_m.npy --quiet
"$COGNATE" index build M more.npy --method slices --margins more_m.npy --quiet
"$COGNATE" search M more.npy --method slices --margins more_m.npy --recall 0.8 --stats - --quiet -o out.tsv | grep -cE '"(recall_at_build|method)": ("slices"|0\.[89])'
"$COGNATE" index build N more.jsonl --method slices --margins more_m.npy 2>&1
