# A name that promises a compressed file gets one, with the same bytes in it; folders and Cognate's own files never.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 60 3 60 >d.jsonl
"$COGNATE" pairs d.jsonl -t 0.3 --quiet >plain.tsv
"$COGNATE" dedup d.jsonl -t 0.3 --quiet -o kept.jsonl --clusters clusters.tsv
"$COGNATE" sign d.jsonl --quiet -o s.npy --weights w.npy --ids ids
for packer in gzip:gz bzip2:bz2 xz:xz zstd:zst; do
    end=${packer#*:} unpack="${packer%:*} -dcq"
    "$COGNATE" pairs d.jsonl -t 0.3 --quiet -o p.tsv.$end && $unpack p.tsv.$end | cmp - plain.tsv && echo "$end: pairs"
    "$COGNATE" dedup d.jsonl -t 0.3 --quiet -o k.jsonl.$end --clusters c.tsv.$end
    $unpack k.jsonl.$end | cmp - kept.jsonl && $unpack c.tsv.$end | cmp - clusters.tsv && echo "$end: dedup"
    "$COGNATE" sign d.jsonl --quiet -o s.npy.$end --weights w.npy.$end --ids ids.$end
    $unpack s.npy.$end | cmp - s.npy && $unpack w.npy.$end | cmp - w.npy && $unpack ids.$end | cmp - ids && echo "$end: sign"
    "$COGNATE" pairs s.npy.$end --radius 300 --quiet | cmp - <("$COGNATE" pairs s.npy --radius 300 --quiet) && echo "$end: read again"
done
mkdir texts && echo 'one text' >texts/a.txt
"$COGNATE" dedup texts -o kept.gz 2>&1
echo "exit $?"
"$COGNATE" sign d.jsonl --quiet -o s.npy --save-statistics s.stat.gz && "$COGNATE" sign d.jsonl --quiet -o t.npy --statistics s.stat.gz && cmp s.npy t.npy && echo "statistics as they are"
# A disk that fills up leaves nothing under the name, and what was there before stays.
python3 "$here/../make_documents.py" 600 3 60 >large.jsonl
mkdir full
for end in gz bz2 xz zst; do
    echo before >full/old.tsv.$end
    for name in new old; do
        (ulimit -f 8 && trap '' XFSZ && "$COGNATE" pairs large.jsonl -t 0.05 --quiet -o full/$name.tsv.$end 2>errors)
        echo "exit $?: $(cat errors)"
    done
done
ls full
sort -u full/*
"$COGNATE" pairs d.jsonl -t 0.3 --quiet >/dev/full 2>errors
echo "exit $?: $(cat errors)"
