# The report and the verdicts: what was decided in one run changes the next.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 40 3 80 >d.jsonl
"$COGNATE" dedup d.jsonl -o plain.jsonl --clusters plain.tsv --quiet
"$COGNATE" dedup d.jsonl -o kept.jsonl --clusters c.tsv --report report.html
echo "exit $?"
cmp plain.jsonl kept.jsonl && cmp plain.tsv c.tsv && echo "the report changes nothing"
"$COGNATE" dedup d.jsonl --dry-run --report one.html --threads 1 --quiet && cmp report.html one.html && echo "one thread: same report"
"$COGNATE" dedup - --input-format jsonl --dry-run --report pipe.html --quiet <d.jsonl && echo "from a pipe"
python3 - <<'P'
import json, re
page = open("report.html", encoding="utf-8").read()
data = re.search(r'<script type="application/json" id="result">(.*?)</script>', page, re.S)[1]
result = json.loads(data)
print(result["total"], result["kept"], result["identical"] + result["near"], result["clusterCount"], result["measure"], result["threshold"], result["floor"])
print("all texts:", len(result["texts"]) == len(result["documents"]["id"]), "no angle brackets:", "<" not in data)
print("network:", re.findall(r"(?:src|href)=[\"']?https?:", page))
clusters = [line.split("\t") for line in open("c.tsv").read().split("\n")[1:] if line]
groups = {}
for number, name, kept, *_ in clusters:
    groups.setdefault(kept, []).append(name)
(first, members), (second, others) = list(groups.items())[:2]
chosen = next(name for name in members if name != first)
apart = next(name for name in others if name != second)
alone = [json.loads(line)["id"] for line in open("kept.jsonl")]
alone = [name for name in alone if name not in groups][:2]
with open("verdicts.jsonl", "w") as out:
    for verdict in ({"verdict": "keep", "id": chosen}, {"verdict": "different", "a": second, "b": apart},
                    {"verdict": "duplicate", "a": alone[0], "b": alone[1]}, {"verdict": "keep", "id": "nobody"}):
        out.write(json.dumps(verdict) + "\n")
open("wanted", "w").write("\n".join([first, chosen, apart, *alone]))
P
"$COGNATE" dedup d.jsonl -o judged.jsonl --verdicts verdicts.jsonl --removed removed.tsv 2>&1
python3 - <<'P'
import json
first, chosen, apart, a, b = open("wanted").read().split("\n")
kept = {json.loads(line)["id"] for line in open("judged.jsonl")}
print("chosen stays:", chosen in kept and first not in kept, "told apart stays:", apart in kept, "duplicate goes:", a in kept and b not in kept)
reasons = {line.split("\t")[0]: line.rstrip("\n").split("\t") for line in open("removed.tsv")}
print(reasons[first][1] == chosen, reasons[b][1] == a, reasons[b][3])
P
echo '{"verdict": "perhaps", "id": "x"}' >bad.jsonl
"$COGNATE" dedup d.jsonl -o never.jsonl --verdicts bad.jsonl 2>&1
echo "exit $?, output: $(ls never.jsonl 2>/dev/null)"
"$COGNATE" dedup d.jsonl -o never.jsonl --verdicts missing.jsonl 2>&1
echo "exit $?"
"$COGNATE" dedup d.jsonl -o never.jsonl --measure cosine --verdicts verdicts.jsonl 2>&1
echo "exit $?"
"$COGNATE" dedup d.jsonl --dry-run --measure cosine --report cosine.html --quiet && grep -c '"measure":"cosine"' cosine.html
"$COGNATE" dedup d.jsonl --verdicts verdicts.jsonl --report verdicts.jsonl 2>&1
echo "exit $?"
head -n 30 d.jsonl >test.jsonl
"$COGNATE" dedup d.jsonl --against test.jsonl --report against.html --removed removed.tsv
python3 -c 'import re, json
result = json.loads(re.search(r"id=\"result\">(.*?)</script>", open("against.html").read(), re.S)[1])
print(result["referred"] == len(open("removed.tsv").readlines()) - 1 == len(result["references"]), result["referred"] >= 30)'
