# Revisions of real pages: what explain counts, and the bytes that its passages cover, are those of Python's own n-grams.
docs=$DATA/neardup/revisions_mdn_en
[ -r "$docs/docs.jsonl.zst" ] || { echo "SKIP no revisions in $docs"; exit; }
zstdcat "$docs/docs.jsonl.zst" >all.jsonl
python3 - "$COGNATE" "$docs/truth_pairs.tsv" <<'P'
import json, re, subprocess, sys

rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[2], encoding="utf-8")][1::100]
wanted = {id for row in rows for id in row[:2]}
lines = [line for line in open("all.jsonl", encoding="utf-8") if json.loads(line)["id"] in wanted]
open("docs.jsonl", "w", encoding="utf-8").writelines(lines)
texts = {record["id"]: record["text"] for record in map(json.loads, lines)}


def grams(text):
    """The word 3-grams of a text, each with its bytes."""
    words = [(match.group().lower(), *match.span()) for match in re.finditer(r"\w+", text)]
    place = [0]
    for character in text:
        place.append(place[-1] + len(character.encode()))
    return [(tuple(word for word, _, _ in words[i:i + 3]), place[words[i][1]], place[words[i + 2][2]])
            for i in range(len(words) - 2)]


def explain(a, b, measure):
    command = [sys.argv[1], "explain", a, b, "--from", "docs.jsonl", "--measure", measure, "--tokens", "regex", "--format",
               "jsonl"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


wrong = spans = 0
for a, b, jaccard, _ in rows:
    found, other = explain(a, b, "jaccard"), explain(a, b, "containment")
    both = [grams(texts[id]) for id in (a, b)]
    x, y = ({gram for gram, _, _ in one} for one in both)
    common = x & y
    exact = [len(common) / size for size in (len(x | y), min(len(x), len(y)), len(x), len(y))]
    stated = [found["similarity"], other["similarity"], found["a_in_b"], found["b_in_a"]]
    wrong += (found["a_ngrams"], found["b_ngrams"], found["shared_ngrams"]) != (len(x), len(y), len(common))
    wrong += any(abs(one - two) > 5.1e-7 for one, two in zip(exact, stated))
    for side, id, own in (("a", a, both[0]), ("b", b, both[1])):
        bytes_of = texts[id].encode()
        shared, covered = bytearray(len(bytes_of)), bytearray(len(bytes_of))
        for gram, begin, end in own:
            if gram in common:
                shared[begin:end] = b"\1" * (end - begin)
        for span in found["spans"]:
            begin, end = span[side]
            covered[begin:end] = b"\1" * (end - begin)
            words = re.findall(r"\w+", bytes_of[begin:end].decode().lower())
            wrong += words != re.findall(r"\w+", span["text"].lower()) or len(words) != span["ngrams"] + 2
        wrong += shared != covered
    spans += len(found["spans"])
    wrong += [span["ngrams"] for span in found["spans"]] != sorted((span["ngrams"] for span in found["spans"]), reverse=True)
print(len(rows), "pairs,", "many spans," if spans > len(rows) else f"{spans} spans,", wrong, "wrong")
P
# The similarity is the one that pairs lists, which keeps it in fewer digits.
"$COGNATE" pairs docs.jsonl --measure jaccard --threshold 0.5 --quiet | awk -F '\t' 'NR > 1 && NR % 4 == 2' |
    while IFS=$'\t' read -r a b similarity _; do
        "$COGNATE" explain "$a" "$b" --from docs.jsonl --measure jaccard | awk -v listed="$similarity" -v pair="$a $b" '
            NR == 1 && ($1 != "jaccard" || $2 - listed > 1.5e-6 || listed - $2 > 1.5e-6) { print pair, "differ" }'
    done
echo "as in pairs"
