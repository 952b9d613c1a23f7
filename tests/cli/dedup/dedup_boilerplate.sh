# What many documents share is named by the words that they share; a word that short texts have in common is not.
python3 - > passages.jsonl <<'END'
import json, random
draw = random.Random(1)
base = [f"b{i}" for i in range(60)]
for i in range(4000):
    words = list(base)
    for at in draw.sample(range(60), 5):
        words[at] = f"u{draw.randrange(40)}"
    print(json.dumps({"id": i, "text": " ".join(words)}))
END
python3 - > words.txt <<'END'
import random
draw = random.Random(1)
for i in range(30000):
    print(" ".join(f"s{draw.randrange(100)}" for _ in range(12)))
END
"$COGNATE" dedup passages.jsonl --dry-run --measure containment --threads 1 2>&1 |
    grep -o "documents or more share '[^ ']* [^ ']* [^ ']*' without being near-duplicates, as in" | sed "s/ '.*' / 'three words' /"
"$COGNATE" dedup words.txt --lines --dry-run 2>&1 | grep -c 'documents or more'
# Memory is spoken of only if it is limited.
printf '{"text": "one two three four five six"}\n{"text": "seven eight nine ten eleven"}\n' > two.jsonl
"$COGNATE" pairs - < two.jsonl 2>&1 | grep -c memory
cat two.jsonl | "$COGNATE" pairs - 2>&1 | grep -c memory
cat two.jsonl | "$COGNATE" pairs - --memory 1G 2>&1 | grep -c memory
