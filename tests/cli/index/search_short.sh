# psm and bphs: an index of short signatures, searched within a radius; the exhaustive answer beside each.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 700 3 200 >d.jsonl
"$COGNATE" sign d.jsonl --signature simhash --bits 64 -o s.npy --weights w.npy --quiet
head -n 300 d.jsonl >q.jsonl
"$COGNATE" sign q.jsonl --signature simhash --bits 64 -o q.npy --weights qw.npy --quiet
"$COGNATE" search s.npy s.npy --radius 3 --method flat --quiet >flat.tsv
[ "$(wc -l <flat.tsv)" -gt 2400 ] && echo "there are pairs"
"$COGNATE" index build B s.npy --method bphs --quiet
echo "bphs: exit $?"
"$COGNATE" search B s.npy --radius 3 --method bphs --quiet | cmp - flat.tsv && echo "bphs: the same"
"$COGNATE" search B s.npy --radius 3 --stats - --quiet -o out.tsv | grep -E '"(method|recall)"'
cmp out.tsv flat.tsv && echo "auto: the same"
"$COGNATE" search s.npy s.npy --radius 3 --method bphs --quiet | cmp - flat.tsv && echo "without an index: the same"
"$COGNATE" search B s.npy --radius 1 --quiet >narrow.tsv
"$COGNATE" search s.npy s.npy --radius 1 --method flat --quiet | cmp - narrow.tsv && echo "radius 1: the same"
"$COGNATE" search B s.npy --radius 3 --first --quiet | tail -n +2 | cut -f 1 | sort -u | wc -l
"$COGNATE" index build P s.npy --method psm --weights w.npy --radius 3 --quiet
echo "psm: exit $?"
"$COGNATE" search P s.npy --radius 3 --weights w.npy --recall 0.95 --stats - --quiet -o psm.tsv | grep -E '"method"'
found=$(wc -l <psm.tsv) all=$(wc -l <flat.tsv)
[ $((found * 100)) -ge $((all * 90)) ] && [ "$found" -le "$all" ] && echo "psm: more than nine tenths"
tail -n +2 psm.tsv | cut -f 1,3,5 | sort >a
tail -n +2 flat.tsv | cut -f 1,3,5 | sort >b
comm -23 a b | wc -l
"$COGNATE" search P s.npy --radius 3 --weights w.npy --method psm --measure-recall --stats - --quiet -o out.tsv | grep -c measured_recall
for threads in 1 2 3; do
    "$COGNATE" search P s.npy --radius 3 --weights w.npy --threads $threads --quiet >psm.$threads
done
cmp psm.1 psm.2 && cmp psm.1 psm.3 && echo "the same for every number of threads"
"$COGNATE" search P s.npy --radius 3 --weights w.npy --recall 1 --quiet | cmp - flat.tsv && echo "recall 1: the same"
"$COGNATE" search P s.npy --radius 3 --weights w.npy --method psm --recall 1 --quiet 2>&1
"$COGNATE" search P s.npy --radius 3 --weights w.npy --first --quiet | tail -n +2 | cut -f 1 | sort -u | wc -l
for index in B P; do
    "$COGNATE" index add $index q.npy --quiet
    "$COGNATE" index remove $index 0 1 2 3 --quiet
    "$COGNATE" search $index q.npy --radius 3 --method flat --quiet >before.tsv
    "$COGNATE" index compact $index --quiet
    "$COGNATE" search $index q.npy --radius 3 --method flat --quiet | cut -f 1,2,4 >flat.changed
    cut -f 1,2,4 before.tsv | cmp - flat.changed && echo "$index changed: the same"
    "$COGNATE" index check $index
done
"$COGNATE" search B q.npy --radius 3 --method bphs --quiet | cut -f 1,2,4 | cmp - flat.changed && echo "bphs compacted: the same"
"$COGNATE" index build D d.jsonl --signature simhash --bits 64 --method psm --quiet
"$COGNATE" search D q.jsonl --radius 3 --method psm --quiet | head -n 1
[ "$("$COGNATE" search D q.jsonl --radius 3 --method psm --quiet | wc -l)" -gt 300 ] && echo "documents find themselves"
"$COGNATE" search P q.npy --radius 3 --method psm 2>&1
echo "exit $?"
"$COGNATE" search P q.npy --method psm --weights qw.npy 2>&1
"$COGNATE" search B q.npy --radius 4 --method bphs 2>&1
"$COGNATE" search B q.npy --radius 3 --method psm 2>&1
"$COGNATE" search B q.npy --radius 3 --first --method flat 2>&1
"$COGNATE" index build X s.npy --method psm --quiet 2>&1
"$COGNATE" index build X d.jsonl --method bphs --quiet 2>&1
"$COGNATE" index build X s.npy --method bphs --radius 9 2>&1
echo "-- knobs"
for form in "--blocks 4" "--blocks 6 --choose 2" "--choose 1" "--blocks 2 --choose 1"; do
    rm -rf K
    "$COGNATE" index build K s.npy --method bphs $form --quiet
    "$COGNATE" index info K | grep -E '^(tables|blocks|header)' | tr '\n' ' '
    "$COGNATE" search K s.npy --radius 3 --quiet | cmp - flat.tsv && echo "$form: the same"
done
"$COGNATE" search s.npy s.npy --radius 3 --method bphs --blocks 4 --quiet | cmp - flat.tsv && echo "without an index: the same"
rm -rf K
"$COGNATE" index build K s.npy --method psm --weights w.npy --header 7 --quiet
"$COGNATE" index info K | grep -E '^(method|radius|tables|header)'
for flips in 1 10 119; do
    "$COGNATE" search K s.npy --radius 3 --weights w.npy --flips $flips --quiet >flips.$flips
done
[ "$(wc -l <flips.1)" -lt "$(wc -l <flips.10)" ] && [ "$(wc -l <flips.10)" -lt "$all" ] && echo "more flips find more"
cmp flips.119 flat.tsv || head -n 3 flips.119
# Of the other rows 0.88 are found; that every row finds itself says nothing.
"$COGNATE" search K s.npy --radius 3 --weights w.npy --flips 1 --measure-recall --stats - --quiet -o out.tsv | grep '"measured_recall'
"$COGNATE" search K s.npy --radius 3 --weights w.npy --flips 1 --first --measure-recall --stats - --quiet -o out.tsv | grep -c '"measured_recall'
"$COGNATE" search K q.npy --radius 3 --weights qw.npy --header 8 2>&1 | head -n 1
"$COGNATE" search B q.npy --radius 3 --flips 3 2>&1
"$COGNATE" search K q.npy --radius 3 --weights qw.npy --flips 3 --method flat 2>&1
"$COGNATE" index build X s.npy --method psm --weights w.npy --header 30 --quiet 2>&1
"$COGNATE" index build X s.npy --method bphs --header 7 --quiet 2>&1
"$COGNATE" index build X s.npy --method psm --weights w.npy --blocks 4 --quiet 2>&1
"$COGNATE" index build X s.npy --method bphs --blocks 3 --choose 4 --quiet 2>&1
"$COGNATE" index build X s.npy --method bphs --blocks 16 --choose 8 --quiet 2>&1
[ ! -e X ] && echo "nothing was built"
printf 'x' | dd of=B/$(ls B | grep segment | head -n 1) bs=1 seek=40000 conv=notrunc 2>/dev/null
"$COGNATE" index check B >/dev/null 2>&1
echo "damaged: exit $?"
