# Pairs against an index are the lines of pairs against its documents, in the order of the index, and what does not compare is refused.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 30 3 60 >d.jsonl
printf '%s\n' '{"id": "tiny", "text": "man bites dog"}' '{"id": "short", "text": "one changed word of ten does not hide it"}' \
    '{"id": "marks", "text": "?!"}' >>d.jsonl
head -50 d.jsonl >first.jsonl
tail -n +51 d.jsonl >rest.jsonl
grep -v '"f1m0"\|"f20m2"\|"f20m0"' d.jsonl >all.jsonl
sed -n 1~3p d.jsonl | sed 's/"id": "/&q/' >new.jsonl
for measure in cosine jaccard containment; do
    # An index by cosine has no documents without terms, which pairs count in their statistics.
    [ $measure = cosine ] && grep -v '"marks"' all.jsonl >documents.jsonl || cp all.jsonl documents.jsonl
    "$COGNATE" index build grown first.jsonl --measure $measure --quiet
    "$COGNATE" index add grown rest.jsonl --quiet
    "$COGNATE" index remove grown f1m0 f20m2 f20m0 --quiet
    for threshold in 0.2 0.8; do
        "$COGNATE" pairs new.jsonl --against documents.jsonl --measure $measure --threshold $threshold --quiet >expected
        "$COGNATE" pairs new.jsonl --against grown --measure $measure --threshold $threshold --stats stats.json --quiet >found
        [ "$(wc -l <found)" -gt 20 ] && cmp expected found && echo "$measure $threshold: the same lines"
    done
    grep -o '"statistics_documents": [0-9]*' stats.json
    "$COGNATE" index compact grown --quiet
    "$COGNATE" pairs new.jsonl --against grown --measure $measure --quiet | cmp - found && echo "compacted: the same"
    [ $measure = cosine ] || { "$COGNATE" pairs new.jsonl --against grown 2>&1; echo "exit $?"; }
    "$COGNATE" pairs new.jsonl --against grown --measure $measure --tokens chars 2>&1
    echo "exit $?"
    "$COGNATE" pairs new.jsonl --against grown d.jsonl --measure $measure 2>&1
    echo "exit $?"
    rm -rf grown
done
grep -v '"marks"' all.jsonl >documents.jsonl
"$COGNATE" pairs new.jsonl --against documents.jsonl --method flat --quiet | cut -f 1-3 >expected
"$COGNATE" index build cosines documents.jsonl --quiet
"$COGNATE" pairs new.jsonl --against cosines --method flat --quiet | cut -f 1-3 | cmp expected - && echo "by signatures: the same"
"$COGNATE" index build bare documents.jsonl --no-vectors --quiet
"$COGNATE" pairs new.jsonl --against bare 2>&1
echo "exit $?"
