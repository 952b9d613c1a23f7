# An index by Jaccard or containment answers what dedup's measure says, however it was made, and refuses what it has not.
here=$(dirname "$0")
python3 "$here/make_documents.py" 30 3 60 >d.jsonl
printf '%s\n' '{"id": "tiny", "text": "man bites dog"}' '{"id": "short", "text": "one changed word of ten does not hide it"}' \
    '{"id": "marks", "text": "?!"}' >>d.jsonl
head -40 d.jsonl >first.jsonl
tail -n +41 d.jsonl >rest.jsonl
for measure in jaccard containment; do
    "$COGNATE" index build $measure d.jsonl --measure $measure --quiet
    "$COGNATE" index build grown first.jsonl --measure $measure --quiet
    "$COGNATE" index add grown rest.jsonl --quiet
    "$COGNATE" index remove grown f0m0 --quiet
    head -1 d.jsonl | "$COGNATE" index add grown - --input-format jsonl --quiet
    "$COGNATE" pairs d.jsonl --against d.jsonl --measure $measure --threshold 0.5 2>/dev/null |
        awk 'NR > 1 { print $1, $2, $3 }' | sort >pairs
    # Pairs leave out texts without terms, which an index knows by their bytes.
    for index in $measure grown; do
        "$COGNATE" search $index d.jsonl --threshold 0.5 | awk 'NR > 1 { print $1, $3, $4 }' | sort >found
        diff pairs found
        "$COGNATE" search $index d.jsonl --threshold 0.5 --first | awk 'NR > 1 { print $1, $3, $4 }' | sort |
            comm -13 found - | wc -l
    done
    "$COGNATE" index info grown | grep -v bytes
    "$COGNATE" index compact grown --quiet
    "$COGNATE" index check grown
    rm -rf grown
done
echo '{"id": "q", "text": "?!"}' | "$COGNATE" search jaccard - --threshold 1
echo '{"id": "q", "text": "one changed word of nine does not hide it"}' | "$COGNATE" search jaccard - -k 1
printf '%s\n' '{"id": "new", "text": "?!"}' '{"id": "other", "text": "dog bites man"}' >new.jsonl
"$COGNATE" index add jaccard new.jsonl --unless-similar 0.8 --quiet
for options in "--radius 3" "--method flat" --no-verify --first "--measure containment" "--bits 64" "--ngram 2"; do
    "$COGNATE" search jaccard d.jsonl $options 2>&1
    echo "exit $?"
done
for options in "--method slices" "--bits 64" --no-vectors "--weighting tf"; do
    "$COGNATE" index build no d.jsonl --measure jaccard $options 2>&1
    echo "exit $?"
done
# Every damage of a segment is seen, and a search of it does not crash.
for place in $(seq 0.02 0.04 0.99); do
    rm -rf D && cp -r containment D
    python3 -c '
import os, sys
at = int(os.path.getsize("D/segment-00000000.cog") * float(sys.argv[1]))
with open("D/segment-00000000.cog", "r+b") as file:
    file.seek(at)
    byte = file.read(1)[0]
    file.seek(at)
    file.write(bytes([byte ^ 0xff]))' $place
    "$COGNATE" index check D >/dev/null 2>&1
    [ $? -eq 2 ] || echo "not seen at $place"
    "$COGNATE" search D d.jsonl >/dev/null 2>&1
    [ $? -le 2 ] || echo "crashed at $place"
done
