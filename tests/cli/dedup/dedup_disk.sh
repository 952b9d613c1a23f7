# The size of the scratch files, stated before the input is read, holds within 1.3 for texts of every kind.
cat >write.py <<'P'
import json, random
random.seed(3)
def vocabulary(least, most, alphabet):
    return ["".join(random.choice(alphabet) for _ in range(random.randint(least, most))) for _ in range(20000)]
def text(words, least, most, between=" "):
    return between.join(random.choice(words) for _ in range(random.randint(least, most)))
latin, hindi = "abcdefghijklmnopqrstuvwxyz", "कखगघचछजझटठडढणतथदधनपफबभमयरलवशसह"
short, usual, long = vocabulary(2, 6, latin), vocabulary(3, 12, latin), vocabulary(4, 9, hindi)
with open("lines.txt", "w") as out: # small sets are larger than such texts
    for _ in range(12000):
        out.write(text(short, 25, 44) + "\n")
with open("long.jsonl", "w") as out:
    for i in range(120):
        out.write(json.dumps({"id": i, "text": text(usual, 2000, 5000)}) + "\n")
with open("hindi.jsonl", "w") as out:
    for i in range(1500):
        out.write(json.dumps({"id": i, "text": text(long, 30, 200)}, ensure_ascii=False) + "\n")
with open("words.csv", "w") as out: # most of the record is no text
    out.write("id,text,rest\n")
    for i in range(9000):
        out.write(f"{i},{text(usual, 12, 14)},{'x' * 300}\n")
P
python3 write.py
check() {
    "$COGNATE" "$@" --quiet --stats stats.json >/dev/null
    python3 -c "
import json, sys
stats = json.load(open('stats.json'))
ratio = stats['disk_bytes'] / stats['predicted_disk_bytes']
print(*sys.argv[1:], 'as stated' if 1 / 1.3 < ratio < 1.3 else ratio)" "$@"
}
for input in "lines.txt --lines" long.jsonl hindi.jsonl words.csv; do check dedup --dry-run $input; done
check dedup --dry-run lines.txt --lines --threshold 0.3
check dedup --dry-run lines.txt --lines --against long.jsonl
check pairs long.jsonl --measure jaccard
check pairs words.csv --against hindi.jsonl --measure containment
