# -o FOLDER: one output per input file, with its name, format and compression, or none at all.
mkdir -p in/deep
same='{"id": "%s", "text": "one text of some words that stands here twice"}\n'
{
    printf "$same" a
    printf '{"id": "b", "text": "another record with quite other words in it"}\n'
} >in/a.jsonl
printf "$same" c | gzip >in/deep/c.jsonl.gz
printf 'id,text\nd,a row of a table\ne,"one text of some words that stands here twice"' >in/d.csv
printf 'id\ttext\tnote\r\nf\ta row of another table\tx\r\n' | zstd -q >in/deep/f.tsv.zst
printf '\xef\xbb\xbf{"id": "g", "text": "a file that starts with a mark"}' >in/g.jsonl
printf 'one text of some words that stands here twice' >in/h.txt
printf 'a document of its own, which is kept' | gzip >in/i.txt.gz
list() { (cd "$1" && find . -type f | sort); }

"$COGNATE" dedup in -o new/
echo "exit $?"
list new
cat new/a.jsonl new/d.csv
zcat new/deep/c.jsonl.gz | wc -c
zstdcat new/deep/f.tsv.zst | cmp - <(zstdcat in/deep/f.tsv.zst) && cmp new/g.jsonl in/g.jsonl && echo "byte for byte"
cat new/i.txt
echo

# A folder that exists receives the files, next to others; names that are taken are refused before any work.
mkdir old
echo mine >old/mine
"$COGNATE" dedup in -o old --quiet --threads 1
echo "exit $?"
cmp old/a.jsonl new/a.jsonl
list old
"$COGNATE" dedup in -o old --quiet 2>&1
echo "exit $?"
(cd in && "$COGNATE" dedup a.jsonl ./a.jsonl -o ../twice/ 2>&1)
echo "exit $?, $(ls -d twice 2>/dev/null | wc -l)"
"$COGNATE" dedup in/a.jsonl in/d.csv -o named/ --quiet
list named
"$COGNATE" dedup - -o named/ <in/a.jsonl 2>&1
echo "exit $?"
"$COGNATE" dedup in/a.jsonl -o mine/ --quiet && touch file && "$COGNATE" dedup in/a.jsonl -o file/ 2>&1
echo "exit $?"
"$COGNATE" dedup in/a.jsonl -o no/such/ 2>&1
echo "exit $?"

# A failure after all of the files have been written leaves none: the last one has no place.
mkdir -p blocked
echo in the way >blocked/deep
"$COGNATE" dedup in -o blocked 2>/dev/null
echo "exit $?"
find blocked -type f | sort

# Files without a byte are documents too: the one that is kept is there.
mkdir bare
touch bare/a.txt bare/b.txt
printf '...' >bare/c.txt
"$COGNATE" dedup bare -o bare-kept 2>&1
list bare-kept

# A name that promises other bytes than kept records have.
for name in kept.parquet kept.jsonl.lz4; do
    "$COGNATE" dedup in/a.jsonl -o $name 2>&1
    echo "exit $?, $(ls -d $name 2>/dev/null | wc -l)"
done
