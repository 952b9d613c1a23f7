# An index that grew by single documents, by batches, with removals and words that it had not seen gives the ids, ranks
# and similarities of a fresh build: the same numbers before it is compacted, the same bytes afterwards.
here=$(dirname "$0")
cat >two.jsonl <<'DOCUMENTS'
{"id": "a", "text": "the quick brown fox jumps over lazy dogs"}
{"id": "b", "text": "reactors and engines are machines made of steel"}
DOCUMENTS
echo '{"id": "c", "text": "fox embryos undergo gastrulation in the ovarian epithelium"}' >c.jsonl
echo '{"id": "n", "text": "zygote blastula morula ectoderm"}' >n.jsonl
echo '{"id": "q", "text": "fox nuclear reactors uranium enrichment centrifuge cascades"}' >q.jsonl
cat two.jsonl c.jsonl n.jsonl >four.jsonl
"$COGNATE" index build T two.jsonl --quiet
"$COGNATE" index add T c.jsonl --quiet && "$COGNATE" index add T n.jsonl --quiet
"$COGNATE" search T q.jsonl --quiet
echo "new words alone:"
"$COGNATE" search T n.jsonl -k 1 --quiet | tail -n 1
"$COGNATE" index build U four.jsonl --quiet
"$COGNATE" search U q.jsonl --quiet | cmp - <("$COGNATE" search T q.jsonl --quiet) && echo "grown: the same as built"

python3 "$here/../make_documents.py" 30 3 80 >all.jsonl
head -n 40 all.jsonl >first.jsonl
sed -n '41,60p' all.jsonl >batch.jsonl
tail -n 30 all.jsonl >rest.jsonl
"$COGNATE" index build I first.jsonl --quiet
"$COGNATE" index add I batch.jsonl --quiet
while read -r line; do
    printf '%s\n' "$line" >one.jsonl
    "$COGNATE" index add I one.jsonl --quiet
done <rest.jsonl
"$COGNATE" index remove I f0m1 f15m2 f29m0 --quiet
grep -v -F -e '"f0m1"' -e '"f15m2"' -e '"f29m0"' all.jsonl >left.jsonl
"$COGNATE" index build F left.jsonl --quiet
compare() { # what
    for method in exact flat; do
        for index in I F; do
            "$COGNATE" search $index all.jsonl --method $method --quiet | cut -f 1-4 >$index.$method
        done
        cmp I.$method F.$method && echo "$1, $method: the same ids, ranks and similarities"
    done
}
compare grown
"$COGNATE" index check I
"$COGNATE" index compact I --quiet
compare compacted
cmp I/segment-*.cog F/segment-*.cog && echo "compacted: the same bytes"

# search, pairs and explain by the same statistics: those of the indexed documents.
"$COGNATE" search I left.jsonl --threshold 0.3 --quiet | tail -n +2 |
    awk -F '\t' '$1 != $3 { print ($1 < $3 ? $1 "\t" $3 : $3 "\t" $1) "\t" $4 }' | sort -u >by.search
"$COGNATE" pairs left.jsonl --threshold 0.3 --quiet | tail -n +2 |
    awk -F '\t' '{ print ($1 < $2 ? $1 "\t" $2 : $2 "\t" $1) "\t" $3 }' | sort -u >by.pairs
cmp by.search by.pairs && echo "search and pairs: the same $(wc -l <by.pairs) similarities"
read -r a b similarity < <(head -n 1 by.search)
"$COGNATE" explain $a $b --from left.jsonl 2>&1 | grep -o "cosine $similarity" | sed 's/[0-9.]*$//'
# The same for texts of a few words, and for words that stand in one text alone.
printf '{"id": "%s", "text": "%s"}\n' a "red car" b "red cars" c "red car wash" d "green car" e "car" \
    f "the quick brown fox jumps over the lazy dog" g "the quick brown fox jumps over the lazy cat" >few.jsonl
"$COGNATE" index build few few.jsonl --quiet
"$COGNATE" search few few.jsonl --threshold 0.05 --quiet |
    awk -F '\t' 'NR > 1 && $1 < $3 { print $1 "\t" $3 "\t" $4 }' | sort >by.search
"$COGNATE" pairs few.jsonl --threshold 0.05 --quiet | tail -n +2 | cut -f 1-3 | sort >by.pairs
cmp by.search by.pairs && cat by.pairs
# Words of a query that the index does not know count in its length: two texts that share one word of many stay apart.
"$COGNATE" search I q.jsonl two.jsonl -k 1 --quiet | awk -F '\t' 'NR > 1 && $4 > 0.2 { print "too near:", $0 }'
