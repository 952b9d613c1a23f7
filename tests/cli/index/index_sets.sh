# An index by Jaccard or containment answers what dedup's measure says, however it was made, and refuses what it has not.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 30 3 60 >d.jsonl
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
for options in "--radius 3" "--method flat" --no-verify --first "--bits 64" "--ngram 2"; do
    "$COGNATE" search jaccard d.jsonl $options 2>&1
    echo "exit $?"
done
for options in "--method slices" "--bits 64" "--weighting tf"; do
    "$COGNATE" index build no d.jsonl --measure jaccard $options 2>&1
    echo "exit $?"
done
# The answer of dedup against an index is that against its documents, in the order of the index.
rm -rf grown && "$COGNATE" index build grown first.jsonl --measure jaccard --quiet
printf '%s\n' '{"id": "f30m0", "text": "!"}' '{"id": "empty", "text": ""}' >>rest.jsonl
"$COGNATE" index add grown rest.jsonl --quiet
"$COGNATE" index remove grown f1m0 f20m2 f20m0 --quiet
cat first.jsonl rest.jsonl | grep -v '"f1m0"\|"f20m2"\|"f20m0"' >documents.jsonl
python3 - <<'END'
import json, random
random.seed(5)
lines = [json.loads(line) for line in open("d.jsonl")]
with open("crawl.jsonl", "w") as out:
    for n, line in enumerate(lines * 3 + [{"text": t} for t in ("!", "", "?!", "...", "dog man bites", "man bites dog")]):
        words = line["text"].split()
        if n >= len(lines) and len(words) > 3:
            for _ in range(random.randrange(4)):
                words[random.randrange(len(words))] = "changed"
            words = words[random.randrange(3) * len(words) // 5:]
        out.write(json.dumps({"id": "c%d" % n, "text": " ".join(words) if len(words) > 3 else line["text"]}) + "\n")
END
for measure in jaccard containment; do
    [ $measure = jaccard ] || { rm -rf grown && "$COGNATE" index build grown documents.jsonl --measure $measure --quiet; }
    for threshold in 0.3 0.6 0.8 1; do
        for reference in grown documents.jsonl; do
            "$COGNATE" dedup crawl.jsonl -o kept.$reference --removed removed.$reference --against $reference \
                --measure $measure --threshold $threshold --quiet
        done
        cmp kept.grown kept.documents.jsonl && cmp removed.grown removed.documents.jsonl &&
            echo "$measure $threshold: $(wc -l <kept.grown) kept, $(grep -c identical removed.grown) identical"
    done
done
# So are clusters, verdicts, and what a work folder and a report give; a report has no texts of the index.
printf '%s\n' '{"verdict": "keep", "id": "c9"}' '{"verdict": "keep", "id": "c40"}' >verdicts.jsonl
for reference in grown documents.jsonl; do
    "$COGNATE" dedup crawl.jsonl -o kept.$reference --clusters clusters.$reference --removed removed.$reference \
        --against $reference --measure containment --verdicts verdicts.jsonl --quiet
    "$COGNATE" dedup crawl.jsonl -o work.kept.$reference --clusters work.clusters.$reference --measure containment \
        --removed work.removed.$reference --against $reference --work W.$reference --verdicts verdicts.jsonl --quiet
    "$COGNATE" dedup crawl.jsonl --removed low.$reference --against $reference --work W.$reference --threshold 0.6 \
        --measure containment --report report.$reference --stats stats.$reference --quiet
    grep -o '"tokenised_documents": [0-9]*' stats.$reference
    python3 -c 'import re, sys; print(re.sub(r"\"referenceTexts\":.*?</script>", "", sys.stdin.read(), count=1, flags=re.S))' \
        <report.$reference >page.$reference
done
for output in kept clusters removed work.kept work.clusters work.removed low page; do
    cmp $output.grown $output.documents.jsonl
done
for output in kept clusters removed; do cmp $output.grown work.$output.grown; done
head -3 clusters.grown
grep -c 'c9\|c40' kept.grown
"$COGNATE" index remove grown f2m0 --quiet
"$COGNATE" dedup crawl.jsonl -o no.jsonl --against grown --measure containment --work W.grown --resume 2>&1
echo "exit $?"
for options in "--measure jaccard" "--ngram 2 --measure containment" "d.jsonl --measure containment"; do
    "$COGNATE" dedup crawl.jsonl -o no.jsonl --against grown $options 2>&1
    echo "exit $?"
done
# Looking up keeps to the budget, and says what was read.
"$COGNATE" dedup crawl.jsonl -o no.jsonl --against grown --measure containment --memory 20M 2>&1 | sed 's/^cognate: [0-9]* documents need [0-9]* MB/N documents need M MB/'
"$COGNATE" dedup crawl.jsonl --dry-run --against grown --measure containment --memory 60M --stats stats 2>&1 | tail -n 2
grep -c '"tokenised_documents": [1-9]\|"empty_documents": [1-9]' stats
# Terms are made as in the index, if no option says otherwise.
for terms in "--tokens regex --ngram 2" "--tokens code --ngram 3"; do
    rm -rf grown && "$COGNATE" index build grown documents.jsonl --measure jaccard $terms --quiet
    for command in "dedup crawl.jsonl --removed -" "pairs crawl.jsonl --measure jaccard"; do
        "$COGNATE" $command --against documents.jsonl $terms --quiet >expected
        "$COGNATE" $command --against grown --quiet | cmp - expected
        "$COGNATE" $command --against grown ${terms% --ngram*} --quiet | cmp - expected && wc -l <expected
    done
done
. "$(dirname "$0")/../damage.sh"
search_damaged containment 0.02 0.04
