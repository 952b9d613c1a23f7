# A family of near-copies has a pair for any two of its documents: they do not fit the budget, and are sorted on disk.
python3 - <<'P'
import json
words = [f"w{i}" for i in range(60)]
with open("family.jsonl", "w") as f:
    for i in range(800):
        copy = list(words)
        copy[i % 60] = f"x{i % 97}"
        f.write(json.dumps({"id": i, "text": " ".join(copy)}) + "\n")
open("half.jsonl", "w").writelines(line for i, line in enumerate(open("family.jsonl")) if i % 2)
P
# The memory of sanitizers is no part of a budget.
head -n 1 family.jsonl >one.jsonl
"$COGNATE" pairs one.jsonl --measure jaccard --quiet --stats one.json >/dev/null
for measure in jaccard containment; do
    for budget in "" "--memory 56M" "--memory 80M --threads 1"; do
        "$COGNATE" pairs family.jsonl --measure $measure -t 0.5 --quiet $budget --stats s.json -o pairs.tsv
        "$COGNATE" pairs half.jsonl --against family.jsonl --measure $measure -t 0.5 --quiet $budget -o across.tsv
        [ -n "$budget" ] || cat pairs.tsv across.tsv | md5sum >first
        cat pairs.tsv across.tsv | md5sum | diff - first && wc -l <pairs.tsv && wc -l <across.tsv
        python3 - "$budget" <<'P'
import json, re, sys
budget = re.search("([0-9]+)M", sys.argv[1])
stats = json.load(open("s.json"))
is_sanitized = json.load(open("one.json"))["process_peak_bytes"] > 15 << 20
print("within the budget" if not budget or is_sanitized or stats["process_peak_bytes"] <= int(budget[1]) << 20 else stats)
print("pairs on disk" if stats["disk_bytes"] > 16 * stats["matches"] else "pairs in memory")
P
    done
done
