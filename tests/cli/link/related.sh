# Related queries of a log: both kinds of columns, queries with few URLs left out, the same pairs by hash tables.
awk 'BEGIN {
    for (q = 0; q < 8; q++)
        for (u = 0; u < 7; u++)
            printf "query %d\thttp://site%d.example\t%d\n", q, (q < 4 ? 0 : 100) + u, 10 - u + q % 4 * (u == 0);
    for (u = 0; u < 5; u++)
        printf "too few\thttp://site%d.example\t9\n", u;
}' >clicks.tsv
"$COGNATE" related clicks.tsv 2>notices.txt
echo "exit $?: $(grep left notices.txt)"
"$COGNATE" related clicks.tsv --quiet >exact.tsv
"$COGNATE" related clicks.tsv --method lsh --key-bits 8 --tables 10 --flips 2 --quiet | cut -f 1-3 >lsh.tsv
cut -f 1-3 exact.tsv | cmp - lsh.tsv && echo "lsh: same"
"$COGNATE" related clicks.tsv --min-urls 5 --quiet | grep -c 'too few'
awk -F '\t' '{ for (i = 0; i < $3; i++) print 7 "\t" $1 "\t2006-03-01 07:17:12\t1\t" $2 }' clicks.tsv |
    sed '1i AnonID\tQuery\tQueryTime\tItemRank\tClickURL' >aol.txt
"$COGNATE" related aol.txt --quiet | cmp - exact.tsv && echo "AOL columns: same"
"$COGNATE" related clicks.tsv --threshold 1 --min-urls 8 --quiet
echo "exit $?"
printf 'a\tu1\t2.5\na\tu2\t1\nb\tu1\t0.2\nb\tu2\t0.1\n' >fractions.tsv
echo "fractions of clicks: (2.5 * 0.2 + 1 * 0.1) / sqrt((2.5^2 + 1) * (0.2^2 + 0.1^2)) = 0.996546"
"$COGNATE" related fractions.tsv --min-urls 2 --quiet
awk -F '\t' '{ print $1 "\t" $2 "\t" $3 / 8 }' clicks.tsv >eighths.tsv
"$COGNATE" sign eighths.tsv --input-format querylog -o own.npy --quiet
"$COGNATE" sign eighths.tsv --input-format querylog --save-statistics log.stat -o given.npy --quiet
cmp own.npy given.npy && echo "BM25 of fractions: the same from the scratch file as from the log"
# A generated log has the bytes that the figures in docs/results.md were measured on.
"$(dirname "$COGNATE")/bench/query_log" 400 >generated.tsv
echo "$(cut -f 1 generated.tsv | sort -u | wc -l) queries; $(sha1sum <generated.tsv)"
"$(dirname "$COGNATE")/bench/query_log" 40000 7 | sha1sum
"$COGNATE" related generated.tsv --quiet >/dev/null && echo "some are related"
"$COGNATE" eval signatures generated.tsv -o out.tsv 2>&1
"$COGNATE" related clicks.tsv --method window --shared-window 2>&1
