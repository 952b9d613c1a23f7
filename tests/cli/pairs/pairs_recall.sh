# Hash tables whose settings are chosen reach the stated recall: on links between pages, and on documents with a crowd of
# alike ones, whose pairs a few hyperplanes find or miss together.
[ -d "$DATA/links" ] || { echo "SKIP COGNATE_DATA names no folder with links/"; exit; }
compare() { # name, command and arguments...
    local name=$1 recall
    shift
    "$COGNATE" "$@" --method exact --quiet >exact.tsv
    for recall in 0.5 0.8 0.9 0.95 0.99; do
        "$COGNATE" "$@" --method lsh --recall $recall --quiet >found.tsv
        python3 - "$name" $recall <<'P'
import sys

def load(path):
    return {tuple(line.split("\t")[:2]) for line in open(path, encoding="utf-8").readlines()[1:]}

exact, found = load("exact.tsv"), load("found.tsv")
reached = len(exact & found) / len(exact)
print(*sys.argv[1:], "reached" if reached >= float(sys.argv[2]) else f"missed: {reached:.3f}")
print(len(found - exact), "too many") if not found <= exact else None
P
    done
}
compare links related "$DATA/links/links.tsv.zst"
compare documents pairs "$DATA/xling_de_en/distractors/en.jsonl.zst" --measure cosine --threshold 0.5
# Windows over signatures are planned by the distances and the crowds of sampled rows, too.
python3 - <<'P'
import random
random.seed(3)
rows = random.randbytes(8) * 600 + random.randbytes(3000 * 8)
head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3600, 8), }".ljust(117) + b"\n"
open("crowd.npy", "wb").write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + rows)
P
"$COGNATE" pairs crowd.npy --radius 3 --method window --quiet --stats s.json | wc -l
python3 -c 'import json; s = json.load(open("s.json")); print(s["planned_by_pairs"] > 50, s["expected_recall"] > 0.95, s["measured_recall"] > 0.95)'
