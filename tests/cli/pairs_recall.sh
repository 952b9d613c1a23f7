# Hash tables whose settings are chosen reach the stated recall: on links between pages, and on documents with a crowd of
# alike ones, whose pairs a few hyperplanes find or miss together.
[ -d "$DATA/links" ] || { echo "SKIP no folder of documents"; exit; }
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
