# What two documents share by Jaccard and containment: similarities, passages, marked texts; as text, table and JSON.
printf 'The quick brown fox jumps over the lazy dog, and\nthen runs away. End.' >a.txt
printf 'Yesterday THE QUICK BROWN FOX jumped; it is the lazy dog, and then runs home. The quick brown fox.\n' >b.txt
"$COGNATE" explain a.txt b.txt --measure jaccard
"$COGNATE" explain a.txt b.txt --measure containment | head -n 1
"$COGNATE" explain a.txt b.txt --measure jaccard --format tsv
"$COGNATE" explain a.txt b.txt --measure containment --format jsonl
# Offsets are bytes of the text as it was read, whatever folding does to its letters.
cat >d.jsonl <<'JSON'
{"id": "1", "text": "Ünï Straße Café größer"}
{"id": "2", "text": "x x UNI\u0308\u00adx straSSE cafe\u0301 GRÖSSER; und Uni\u0308\u00adx Strasse café"}
{"id": "3", "text": "我们今天要去北京大学图书馆看书"}
{"id": "4", "text": "他们说：我们今天要去北京大学图书馆吃饭"}
JSON
python3 - "$COGNATE" <<'P'
import json, subprocess, sys
texts = {record["id"]: record["text"].encode() for record in map(json.loads, open("d.jsonl", encoding="utf-8"))}
for a, b, measure, *more in (("1", "2", "containment"), ("3", "4", "containment"), ("2", "2", "containment"),
                             ("3", "4", "jaccard", "--tokens", "chars", "--ngram", "2"), ("1", "2", "jaccard")):
    command = [sys.argv[1], "explain", a, b, "--from", "d.jsonl", "--measure", measure, "--format", "jsonl", *more]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    print(found["similarity"], "words:" if found["by_words"] else "n-grams:", found["a_ngrams"], found["b_ngrams"], found["shared_ngrams"])
    for span in found["spans"]:
        print(span["ngrams"], *(texts[id][slice(*span[side])].decode() for id, side in ((a, "a"), (b, "b"))), sep=" | ")
P
# Files of several documents: the first of each, and a notice.
"$COGNATE" explain d.jsonl d.jsonl --measure jaccard 2>&1 >passages
head -n 1 passages
"$COGNATE" explain a.txt d.jsonl 2>&1 >words
"$COGNATE" explain 1 2 --from d.jsonl 2>&1 >words
# On a terminal: colours, and nothing that a terminal would obey.
printf 'one two three \033[31mfour\n' >c.txt
python3 - "$COGNATE" <<'P'
import os, pty, sys
for names in ({"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update(names)
        os.execv(sys.argv[1], [sys.argv[1], "explain", "c.txt", "c.txt", "--measure", "jaccard", "--ngram", "2", "--quiet"])
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:
        pass
    os.waitpid(child, 0)
    print(repr(shown.decode().splitlines()[-1]))
P
printf 'nothing shared here\n' >z.txt
"$COGNATE" explain a.txt z.txt --measure jaccard
echo "exit $?"
"$COGNATE" explain 1 nobody --from d.jsonl --measure jaccard 2>&1
echo "exit $?"
"$COGNATE" explain a.txt b.txt --format jsonl 2>&1
"$COGNATE" explain a.txt b.txt --measure jaccard --weighting tf 2>&1
"$COGNATE" explain a.txt b.txt --measure jaccard --lexicon l 2>&1
"$COGNATE" explain a.txt b.txt --measure jaccard --format npy 2>&1
"$COGNATE" explain a.txt b.txt --measure jaccard --memory 1M 2>&1
"$COGNATE" pairs d.jsonl --measure containment | tail -n +2
printf 'q\tu1\t2\nq\tu2\t1\nr\tu1\t1\n' >log.tsv
"$COGNATE" explain q r --from log.tsv --input-format querylog --measure jaccard 2>&1
echo "exit $?"

echo "tokens of code"
printf 'int a = b + c; foo(a, b, c);' >x1.c
printf 'int a = b + c; bar(a, b, c);' >x2.c
"$COGNATE" explain x1.c x2.c --measure jaccard --tokens code --format tsv
# A text of a few words has nothing to compare with a long one, and says so; one word is no words.
printf 'one two three four five' >short.txt
printf 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty and one' >long.txt
printf 'one' >word.txt
for pair in "short.txt long.txt" "word.txt short.txt"; do
    "$COGNATE" explain $pair --measure jaccard | head -n 5
done
"$COGNATE" explain short.txt long.txt --measure containment | head -n 4
