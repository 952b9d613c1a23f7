# Documents that the budget does not hold are linked from disk, and so is what comes through a pipe: the same links, within
# the budget.
here=$(dirname "$0")
python3 "$here/../two_languages.py" write . 1500
python3 - <<'P'
import json
for name in ("from.jsonl", "to.jsonl"):
    documents = [json.loads(line) for line in open(name)]
    with open(name, "w") as file:
        for document in documents:
            file.write(json.dumps({**document, "text": " ".join([document["text"]] * 8)}) + "\n")
P
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
# The memory of sanitizers is no part of a budget.
export SANITIZED=$(nm "$COGNATE" 2>/dev/null | grep -c -e __asan_init -e __tsan_init)
link() { "$COGNATE" link --lexicon vo-eo.lex --quiet --stats stats.json "$@"; }
for options in "--method exact" "--method lists" "--method flat --one-to-one" "--method slices -k 3" "--method window"; do
    link --from from.jsonl --to to.jsonl $options -o whole.tsv
    link --from from.jsonl --to to.jsonl $options --memory 70M -o disk.tsv
    cmp whole.tsv disk.tsv && echo "$options: the same"
    python3 - <<'P'
import json, os
stats = json.load(open("stats.json"))
is_sanitized = os.environ["SANITIZED"] != "0"
print("from disk" if stats.get("predicted_disk_bytes", 0) > 0 else "in memory",
      "within the budget" if stats["peak_memory_bytes"] <= 70 << 20 else stats["peak_memory_bytes"],
      "also resident" if is_sanitized or stats["process_peak_bytes"] <= 70 << 20 else stats["process_peak_bytes"])
P
done
cat from.jsonl | link --from - --to to.jsonl --memory 1G -o pipe.tsv --method window && cmp pipe.tsv whole.tsv && echo "a pipe: the same"
for method in exact lists flat; do
    across="pairs from.jsonl --against to.jsonl --lexicon vo-eo.lex -t 0.3 --method $method --quiet --stats stats.json"
    "$COGNATE" $across -o whole.tsv
    "$COGNATE" $across --memory 70M -o disk.tsv
    cmp whole.tsv disk.tsv && echo "pairs, $method: $(grep -c predicted_disk stats.json) from disk, the same"
done
link --from from.jsonl --to to.jsonl --memory 45M --method flat 2>&1 | sed 's/about [0-9]* MB/about N MB/'

# A budget that holds the documents but not the search (62 MB, 67 MB): the vectors go to disk.
python3 "$here/../two_languages.py" write . 6000
"$COGNATE" lexicon convert table.tsv --from vo --to eo --mass 1 -o vo-eo.lex --quiet
link --from from.jsonl --to to.jsonl --method exact --threads 2 -o whole.tsv
link --from from.jsonl --to to.jsonl --method exact --threads 2 --memory 65M -o disk.tsv
cmp whole.tsv disk.tsv && echo "documents fit, the search does not: $(grep -c predicted_disk stats.json) from disk, the same"
