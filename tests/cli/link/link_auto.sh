# How link chooses: all cosines of a small set, lists where these would take a second, and never lists for a recall of 1.
# A sanitized program computes the same choice in a minute; link_memory.sh runs the same methods.
if nm "$COGNATE" 2>/dev/null | grep -q -e __asan_init -e __tsan_init; then echo "SKIP the program is sanitized"; exit; fi
here=$(dirname "$0")
for documents in 150 16000; do
    python3 "$here/../two_languages.py" write . $documents
    "$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
    for recall in 0.99 1; do
        "$COGNATE" link --from from.jsonl --to to.jsonl --lexicon vo-eo.lex --recall $recall --quiet --stats stats.json \
            -o links.tsv
        python3 - $documents $recall <<'P'
import json, sys
stats = json.load(open("stats.json"))
recall = stats["recall"] if "recall" in stats else "about 0.99" if stats["measured_recall"] > 0.98 else "low"
links = [line.split("\t")[:2] for line in open("links.tsv")][1:]
right = sum(a[4:] == b[2:] for a, b in links)
print(*sys.argv[1:], stats["method"], recall, "right" if right == len(links) > 0.99 * int(sys.argv[1]) else (right, len(links)))
P
    done
done
