# The listed pairs of the near-duplicate sets, found exactly: word 3-grams of \w+ tokens, lower-cased.
[ -d "$DATA/neardup" ] || { echo "SKIP COGNATE_DATA names no folder with neardup/"; exit; }
for name in revisions_mdn_en revisions_gesetze_de; do
    "$COGNATE" pairs "$DATA/neardup/$name/docs.jsonl.zst" --measure jaccard --tokens regex --quiet >found.tsv
    python3 - "$DATA/neardup/$name/computed_pairs_j08.tsv" <<'P'
import sys

def load(path):
    rows = (line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8"))
    next(rows)
    return {tuple(sorted(row[:2])): float(row[2]) for row in rows}

listed, found = load(sys.argv[1]), load("found.tsv")
worst = max(abs(listed[pair] - found[pair]) for pair in listed.keys() & found.keys())
print(len(listed), "listed,", len(listed.keys() - found.keys()), "missing,", len(found.keys() - listed.keys()),
      "too many,", "similarities agree" if worst <= 5.1e-5 else f"similarities differ by {worst}")
P
done
