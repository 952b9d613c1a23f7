# --tokens code: one sign or one capital makes another program, white space does not; by default 5-grams.
python3 - <<'P'
import json
program = "for (int i = 0; i < n; i++) { if (a[i] == b[i]) count += 1; else total -= foo(a[i]); }"
texts = {"a": program, "spaced": program.replace(" ", "\n    "), "other": program.replace("==", "!="), "capital": program.replace("foo", "Foo")}
with open("code.jsonl", "w") as out:
    for key, text in texts.items():
        out.write(json.dumps({"id": key, "text": text}) + "\n")
P
"$COGNATE" pairs code.jsonl --measure jaccard --tokens code -t 0.5
"$COGNATE" pairs code.jsonl --measure jaccard --tokens code --ngram 3 -t 0.5 --quiet | head -n 3
"$COGNATE" dedup code.jsonl -o - --tokens code -t 1 --quiet | cut -c 1-14
"$COGNATE" dedup code.jsonl -o - --quiet | cut -c 1-14
"$COGNATE" index build I code.jsonl --tokens code --quiet && "$COGNATE" index info I | grep ^terms
