# An index of minhash signatures answers as their distances do, however it was made, near to the exact similarities.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 900 3 60 >d.jsonl
head -1500 d.jsonl >first.jsonl
tail -n +1501 d.jsonl >rest.jsonl
minhash="--measure jaccard --no-vectors"
"$COGNATE" index build M d.jsonl $minhash --quiet
"$COGNATE" index build S d.jsonl $minhash --method slices --quiet
"$COGNATE" index build J d.jsonl --measure jaccard --quiet
"$COGNATE" index build grown first.jsonl $minhash --signature minhash --quiet
"$COGNATE" index add grown rest.jsonl --quiet
"$COGNATE" index remove grown f0m0 f8m1 --quiet
head -1 d.jsonl | "$COGNATE" index add grown - --input-format jsonl
"$COGNATE" sign d.jsonl -o d.npy --signature minhash --value-bits 1 --bits 1024 --quiet
"$COGNATE" search d.npy d.npy -k 4 --method flat 2>/dev/null | cut -f 1,2,5 >distances
"$COGNATE" search M d.jsonl -k 4 >found 2>/dev/null
cut -f 5 found | cmp - <(cut -f 3 distances)
awk 'NR > 1 && sprintf("%.6f", $5 < 512 ? 1 - 2 * $5 / 1024 : 0) != $4' found
head -1 found
"$COGNATE" search M d.jsonl --threshold 0.5 2>/dev/null | grep -v 'f0m0\|f8m1' | cut -f 1,3,4 | sort >found
"$COGNATE" search grown d.jsonl --threshold 0.5 2>/dev/null | grep -v 'f0m0\|f8m1' | cut -f 1,3,4 | sort | cmp - found
"$COGNATE" index compact grown --quiet
"$COGNATE" search grown d.jsonl --threshold 0.5 2>/dev/null | grep -v 'f0m0\|f8m1' | cut -f 1,3,4 | sort | cmp - found
"$COGNATE" index check grown
"$COGNATE" index info grown | grep -v bytes
# Half as many bits differ as values do: an error of four deviations is 0.1 at most.
"$COGNATE" search J d.jsonl --threshold 0.3 2>/dev/null | cut -f 1,3,4 >exact
"$COGNATE" search M d.jsonl --threshold 0.1 2>/dev/null | cut -f 1,3,4 >found
python3 - <<'END'
rows = [{tuple(line.split()[:2]): float(line.split()[2]) for line in list(open(name))[1:]} for name in ("exact", "found")]
errors = [abs(value - rows[1].get(pair, 0)) for pair, value in rows[0].items()]
print("missed" if max(errors) > 0.13 else "near", sum(e * e for e in errors) / len(errors) < 0.03 ** 2, len(errors) > 2700)
END
# The recall of the build is kept by tables.
"$COGNATE" search S d.jsonl -k 10 --method slices --recall 0.9 -o found --stats stats --quiet
"$COGNATE" search M d.jsonl -k 10 -o all --quiet
python3 - <<'END'
import json
def best(name):
    rows = {}
    for line in list(open(name))[1:]:
        query, _, _, _, distance = line.split()
        rows.setdefault(query, []).append(int(distance))
    return rows
found, everything = best("found"), best("all")
right = sum(sum(d <= everything[q][9] for d in found.get(q, [])[:10]) for q in everything)
stats = json.load(open("stats"))
print("recall kept", right / 10 / len(everything) >= 0.88, stats["method"])
END
printf '%s\n' '{"id": "short", "text": "two words"}' >>rest.jsonl
tail -2 rest.jsonl | sed 's/"id": "f/"id": "again-f/' >new.jsonl
"$COGNATE" index add M new.jsonl --unless-similar 0.8 2>&1
echo '{"id": "short", "text": "two words"}' | "$COGNATE" search M - --threshold 0.5
for options in "--measure containment --no-vectors" "--measure jaccard --signature minhash" "--signature minhash" \
    "$minhash --signature simhash" "$minhash --value-bits 4" "$minhash --method psm" "$minhash --weighting tf"; do
    "$COGNATE" index build no d.jsonl $options 2>&1
    echo "exit $?"
done
"$COGNATE" index build no d.npy $minhash 2>&1
"$COGNATE" dedup new.jsonl --against M -o no.jsonl 2>&1
"$COGNATE" pairs new.jsonl --against M --measure jaccard 2>&1
"$COGNATE" search M new.jsonl --bits 64 2>&1
. "$(dirname "$0")/../damage.sh"
search_damaged S 0.01 0.06 --method slices
