# A query log: the rows of kept queries stay as they are and where they are; a brute force of Jaccard decides who goes.
python3 - <<'P'
import random
random.seed(11)
rows = []
for q in range(300):
    base = q // 3
    urls = [f"http://site{base}.example/{u}" for u in range(8)] if q % 3 else [f"http://own{q}.example/{u}" for u in range(8)]
    if q % 3 == 2:
        urls[random.randrange(8)] = f"http://odd{q}.example"
    rows += [(f"query {q}{' längere' * (q % 2)}", url, random.randrange(1, 9)) for url in urls]
random.shuffle(rows)
lines = ["\t".join(map(str, row)) for row in rows]
lines[100:100] = ["no tabs here", "", "query 1\thttp://bad.example\tmany"]
lines[500:500] = ["query\turl\tclicks"]                   # logs that were put together
open("log.tsv", "w").write("\ufeffQuery\tURL\tclicks\r\n" + "".join(line + ("\r\n" if i % 7 else "\n") for i, line in enumerate(lines)) + "last\thttp://last.example\t1")
open("aol.txt", "w").write("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(
    f"{random.randrange(99)}\t{q}\t2006-03-01 07:17:12\t1\t{u}\n" for q, u, _ in rows) + "7\tno clicks\t2006-03-01 07:17:13\n")
open("reference.tsv", "w").write("".join(f"other {b}\thttp://site{b}.example/{u}\t1\n" for b in range(5) for u in range(8)))
P
cat >oracle.py <<'P'
# Rows of the kept queries by brute force: the longest query first, of equal ones the earlier.
import sys
path, column, url, threshold = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
reference = sys.argv[5] if len(sys.argv) > 5 else None
def read(path, column, url):
    sets = {}
    for line in open(path, encoding="utf-8-sig", newline="").read().split("\n"):
        fields = line.rstrip("\r").split("\t")
        if len(fields) < 3 or fields[0] in ("Query", "query", "AnonID") or fields[2] == "many":
            continue
        sets.setdefault(fields[column], set())
        if len(fields) > url:
            sets[fields[column]].add(fields[url])
    return sets
sets = read(path, column, url)
near = lambda a, b: len(a & b) >= threshold * len(a | b) and a
kept = []
if reference:
    others = read(reference, 0, 1).values()
    kept = [q for q in sets if not any(near(sets[q], other) for other in others)]
else:
    for q in sorted(sets, key=lambda q: -len(q.encode())):
        if not any(near(sets[q], sets[k]) for k in kept):
            kept.append(q)
kept = set(kept)
data = open(path, "rb").read()
for i, line in enumerate(data.split(b"\n")):
    end = b"\n" if i < data.count(b"\n") else b""
    fields = line.decode("utf-8-sig").rstrip("\r").split("\t")
    header = fields[0] in ("Query", "query", "AnonID")
    if header or (len(fields) > 2 and fields[2] != "many" and fields[column] in kept):
        sys.stdout.buffer.write(line + end)
P
log="--input-format querylog"
for threshold in 0.5 0.75 0.8 1; do
    for threads in 1 2; do
        "$COGNATE" dedup log.tsv $log -o kept.tsv --threshold $threshold --threads $threads --quiet 2>&1
        python3 oracle.py log.tsv 0 1 $threshold | cmp - kept.tsv && echo "$threshold: $(wc -l <kept.tsv) rows"
    done
    "$COGNATE" dedup aol.txt $log -o kept.txt --threshold $threshold --quiet 2>&1
    python3 oracle.py aol.txt 1 4 $threshold | cmp - kept.txt && echo "$threshold: $(wc -l <kept.txt) rows of AOL columns"
done
"$COGNATE" dedup log.tsv $log -o kept.tsv --threshold 0.75 --against reference.tsv --removed removed.tsv --quiet 2>&1
python3 oracle.py log.tsv 0 1 0.75 reference.tsv | cmp - kept.tsv && echo "a reference log: $(wc -l <kept.tsv) rows"
sort removed.tsv | head -3
echo "-- tables, and rows that are none"
"$COGNATE" dedup log.tsv $log -o kept.tsv --threshold 0.75 --clusters clusters.tsv --removed removed.tsv --rejects bad.tsv 2>&1
cat bad.tsv
head -3 clusters.tsv
head -2 removed.tsv
"$COGNATE" dedup log.tsv $log --threshold 0.75 --dry-run 2>&1 | tail -1
echo "-- from a pipe, into a folder, with a work folder, by cosine"
"$COGNATE" dedup - $log -o - --threshold 0.75 --quiet <log.tsv | cmp - kept.tsv && echo "standard input: same"
cat log.tsv | "$COGNATE" dedup - $log -o - --threshold 0.75 --quiet | cmp - kept.tsv && echo "a pipe: same"
gzip -k log.tsv
"$COGNATE" dedup log.tsv.gz $log -o kept.tsv.gz --threshold 0.75 --quiet 2>&1
gzip -dc kept.tsv.gz | cmp - kept.tsv && echo "compressed: same"
mkdir logs && cp log.tsv aol.txt logs
"$COGNATE" dedup logs $log -o out/ --threshold 1 --quiet 2>&1
head -qn 1 out/log.tsv out/aol.txt | cat -A
"$COGNATE" dedup log.tsv $log -o one.tsv --work work --threshold 0.9 --quiet 2>&1
"$COGNATE" dedup log.tsv $log -o two.tsv --work work --threshold 0.75 --quiet --stats stats.json
cmp two.tsv kept.tsv && echo "a work folder: same"
"$COGNATE" dedup log.tsv $log -o cosine.tsv --measure cosine --threshold 0.7 --quiet 2>&1
echo "$(wc -l <cosine.tsv) rows by cosine"
echo "-- what does not go together"
"$COGNATE" dedup log.tsv aol.txt $log -o both.tsv --quiet 2>&1
echo "exit $?, $(ls both.tsv 2>/dev/null | wc -l) file"
"$COGNATE" dedup log.tsv $log -o both.csv --quiet 2>&1
echo "exit $?"
"$COGNATE" dedup log.tsv $log -o both.tsv --mark m --quiet 2>&1
echo "exit $?"
: >empty.tsv
"$COGNATE" dedup empty.tsv $log -o none.tsv 2>&1
echo "exit $?, $(stat -c %s none.tsv) bytes"
