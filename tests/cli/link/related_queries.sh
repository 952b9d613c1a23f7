# Neighbours of given queries: what the whole answer has of them, the given query first; unknown ones are named.
"$(dirname "$COGNATE")/bench/query_log" 3000 >log.tsv
"$COGNATE" related log.tsv --threshold 0.4 --quiet >all.tsv
cut -f 1 log.tsv | sort -u | awk 'NR % 7 == 3' >mine.txt
tail -n +2 all.tsv | awk -F '\t' -v OFS='\t' 'NR == FNR { mine[$1]; next }
    $1 in mine { print $1, $2, $3 } $2 in mine { print $2, $1, $3 }' mine.txt - | sort >expected.tsv
echo "$(wc -l <expected.tsv) neighbours of $(wc -l <mine.txt) queries, of $(wc -l <all.tsv) pairs"
for method in exact lists flat; do
    "$COGNATE" related log.tsv --threshold 0.4 --queries mine.txt --method $method --recall 0.9999 --quiet \
        --stats $method.json | tail -n +2 | cut -f 1-3 | sort >$method.tsv
done
cmp exact.tsv expected.tsv && cmp lists.tsv expected.tsv && echo "exact, lists: same as the whole answer filtered"
comm -23 flat.tsv expected.tsv | wc -l
echo "$(grep -o '"matches": [0-9]*' exact.json), $(grep -o '"given_queries": [0-9]*' exact.json)"
# Hash tables find a part of them, no others, and the recall is measured without pairs of a query and itself.
for method in "lsh --key-bits 16 --tables 10 --flips 2 --flip-mode distance" "window --tables 8 --window 50"; do
    "$COGNATE" related log.tsv --threshold 0.4 --queries mine.txt --quiet --stats part.json --method $method |
        tail -n +2 | cut -f 1-3 | sort >part.tsv
    comm -23 part.tsv expected.tsv | wc -l
    awk -v found="$(wc -l <part.tsv)" -v all="$(wc -l <expected.tsv)" '{
        if (match($0, /"measured_recall_low": [0-9.]+/)) low = substr($0, RSTART + 23, RLENGTH - 23)
        if (match($0, /"measured_recall_high": [0-9.]+/)) high = substr($0, RSTART + 24, RLENGTH - 24)
    } END { share = found / all
        if (found > 0 && share < 1 && share >= low - 0.02 && share <= high + 0.02) print "the measured recall holds"
        else print "found " share ", measured " low " to " high }' part.json
done
"$COGNATE" related log.tsv --threshold 0.4 --queries - --quiet <mine.txt | tail -n +2 | cut -f 1-3 | sort | cmp - exact.tsv &&
    echo "from standard input: same"
printf 'no such query\n\nnor\\tthis\n' >unknown.txt
"$COGNATE" related log.tsv --queries unknown.txt 2>notices.txt
echo "exit $?: $(grep 'given' notices.txt)"
"$COGNATE" related log.tsv --queries missing.txt --quiet 2>&1 | head -1
echo "exit ${PIPESTATUS[0]}"
