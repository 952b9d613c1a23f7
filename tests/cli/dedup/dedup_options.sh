# Which document stays, the list of what goes, reference collections, containment, short texts, budgets of memory.
here=$(dirname "$0")
python3 - <<'P'
import json, random
random.seed(5)
vocabulary = [f"w{i}" for i in range(500)]
def text(count):
    return [random.choice(vocabulary) for _ in range(count)]
def near(words, changes):
    words = list(words)
    for i in range(changes):
        words[(i * 17 + 3) % len(words)] = f"x{random.randrange(10**6)}"
    return words
def write(path, documents):
    with open(path, "w") as f:
        f.writelines(json.dumps(d) + "\n" for d in documents)
def document(id, words, **fields):
    return {"id": id, "text": " ".join(words), **fields}
a, b, c = text(60), text(80), text(50)
write("d.jsonl", [
    document("a1", a, n=3, day="2024-05-01", time="2024-05-01T10:00:00.123Z", word="beta"),
    document("a2", near(a, 1), n=12, day="2024-05-31T08:00:00Z", time="2024-05-31T09:00:00.5Z", word="alpha"),
    document("a3", near(a, 2) + ["tail"], day="2023-12-31", time="2024-05-15T10:00:00+02:00", word="gamma"),
    document("a4", near(a, 1), n=-7, day="", time="2024-05-20T10:00:00.123456-05:00"),
    document("b1", b, n="1e3", day="2020-01-01"),
    document("b2", near(b, 1), n="900", day="2021-01-01"),
    document("c", c)])
write("reference.jsonl", [document("r1", near(b, 1)), document("r2", text(60))])
write("more.jsonl", [document("r3", c), document("r1", text(30))])
long = text(400)
write("passage.jsonl", [document("passage", long[100:160], keep=9), document("other", text(70)),
                        document("long", long, keep=1), document("longer", long + text(40), keep=0)])
chain = [text(40)]
for _ in range(5):
    chain.append(near(chain[-1], 0))
    chain[-1][_ * 7:_ * 7 + 3] = text(3)
write("chain.jsonl", [document(f"chain{i}", words) for i, words in enumerate(chain)])
write("strange.jsonl", [
    {"id": "x", "text": "..."}, {"id": "x", "text": "!?!"}, {"id": "x", "text": "..."}, {"id": "y", "text": ""},
    {"id": "y", "text": ""}, {"id": "🙂", "text": "🙂🙂"}, {"id": "🙃", "text": "🙂🙂"}, {"id": "🙄", "text": "🙂"},
    {"id": "z", "text": "a word"}, {"id": "tab\there", "text": "a, word!"}])
write("exact.jsonl", [document("nine", "one two three four five six seven eight nine".split()),
                      document("ten", "one two three four five six seven eight nine ten".split())])
P
removed() {
    "$COGNATE" dedup "$@" --removed - --quiet
    echo "exit $?"
}

echo "-- who stays"
for rule in longest first last field:n field:n:max field:n:min field:day field:day:min field:time field:time:min field:word; do
    echo "$rule: $("$COGNATE" dedup d.jsonl --keep $rule -o - --quiet | sed 's/.*"id": "\([^"]*\)".*/\1/' | tr '\n' ' ')"
done
for rule in field:none field: nonsense; do
    "$COGNATE" dedup d.jsonl --keep $rule --dry-run 2>&1
    echo "exit $?"
done
printf 'id\ttext\tyear\n1\tone and the same row of a table\t1999\n2\tone and the same row of a table\t2001\n' >t.tsv
"$COGNATE" dedup t.tsv --keep field:year -o - --quiet

echo "-- what goes"
removed d.jsonl
removed d.jsonl --format jsonl
"$COGNATE" dedup d.jsonl --dry-run
"$COGNATE" dedup d.jsonl --dry-run 2>&1
"$COGNATE" dedup d.jsonl --dry-run -o kept.jsonl 2>&1
echo "exit $?, $(ls kept.jsonl 2>/dev/null | wc -l) file"
"$COGNATE" dedup d.jsonl 2>&1
echo "exit $?"
removed exact.jsonl --threshold 0.9
removed exact.jsonl --threshold 0.901

echo "-- a reference collection"
removed d.jsonl --against reference.jsonl
removed d.jsonl --against reference.jsonl more.jsonl --threshold 0.6
removed d.jsonl --against d.jsonl
for method in "--measure cosine" "--method lsh"; do
    "$COGNATE" dedup d.jsonl --against reference.jsonl d.jsonl $method --removed - --quiet | cut -f 4 | sort | uniq -c
done
"$COGNATE" dedup d.jsonl -o - --against reference.jsonl more.jsonl | sed 's/.*"id": "\([^"]*\)".*/\1/' | tr '\n' ' '
echo
: >empty.jsonl
removed d.jsonl --against empty.jsonl
removed empty.jsonl --against d.jsonl
"$COGNATE" dedup d.jsonl --against reference.jsonl --clusters - 2>&1
echo "exit $?"

echo "-- containment"
removed passage.jsonl
for rule in first last field:keep; do removed passage.jsonl --measure containment --keep $rule; done
printf '{"id": "q", "text": "%s"}\n' "$(python3 -c 'import json; print(json.loads(open("passage.jsonl").readline())["text"])')" >quote.jsonl
removed passage.jsonl --measure containment --against quote.jsonl
removed quote.jsonl --measure containment --against passage.jsonl
"$COGNATE" dedup passage.jsonl --measure containment --method lsh --dry-run 2>&1
echo "exit $?"
"$COGNATE" pairs passage.jsonl --measure containment 2>&1
echo "exit $?"

echo "-- chains"
removed chain.jsonl --threshold 0.7
removed chain.jsonl --threshold 0.7 --grouping connected
"$COGNATE" dedup chain.jsonl --threshold 0.7 --grouping connected --keep last --clusters - --quiet

echo "-- strange documents"
removed strange.jsonl
"$COGNATE" dedup strange.jsonl --dry-run 2>&1
removed strange.jsonl --against strange.jsonl

echo "-- short texts"
printf '%s\n' 'one two three four five six seven eight nine ten' 'one two three four other six seven eight nine ten' \
    'one two three four' 'four three two one' 'two' 'Two.' >short.txt
removed short.txt --lines
removed short.txt --lines --tokens chars --ngram 5 --threshold 0.5

echo "-- threads and memory"
python3 "$here/../make_documents.py" 1500 3 80 >many.jsonl
"$COGNATE" dedup many.jsonl --removed unlimited.tsv -o unlimited.jsonl --threads 1 --quiet
wc -l <unlimited.jsonl
"$COGNATE" dedup many.jsonl --dry-run --memory 20M 2>message
echo "exit $?"
sed 's/[0-9]* MB of memory/N MB of memory/' message
least=$(sed -n 's/.* need \([0-9]*\) MB.*/\1/p' message)
"$COGNATE" dedup many.jsonl --dry-run --memory $((least - 2))M >/dev/null 2>&1
echo "exit $? below the minimum"
for memory in $((least + 1))M $((least + 8))M 100M 4G; do
    for threads in 1 2; do
        for measure in jaccard containment; do
            "$COGNATE" dedup many.jsonl --removed r.tsv -o k.jsonl --memory $memory --threads $threads --measure $measure --quiet ||
                echo "exit $? with $memory, $threads threads"
            [ -e $measure.tsv ] || cp r.tsv $measure.tsv
            cmp r.tsv $measure.tsv
        done
        "$COGNATE" dedup many.jsonl --clusters c.tsv --memory $memory --threads $threads --grouping connected --threshold 0.5 --quiet
        [ -e connected.tsv ] || cp c.tsv connected.tsv
        cmp c.tsv connected.tsv
    done
done
cmp jaccard.tsv unlimited.tsv && echo "the same for every memory and number of threads"

echo "marks"
cat >pages.jsonl <<'P'
{"id": "a", "text": "the quick brown fox jumps over the lazy dog near the old river bank"}
{"id": "b", "text": "the quick brown fox jumps over the lazy dog near the old river bend"}
{"id": "c", "text": "one document says nothing of the other and stands alone"}
P
"$COGNATE" dedup pages.jsonl -o marked.jsonl --mark dup --quiet
cat marked.jsonl
"$COGNATE" dedup pages.jsonl -o marked.jsonl --mark text 2>&1

echo "work folders of other jobs"
printf '%s\n' '{"text": "one two three four"}' '{"text": "one two three four", "id": "b"}' '{"text":' >work.jsonl
"$COGNATE" dedup work.jsonl --dry-run --work work --rejects bad.txt 2>&1
"$COGNATE" dedup work.jsonl --dry-run --work work --rejects bad2.txt --threshold 0.3 --quiet && cmp bad.txt bad2.txt && cat bad2.txt
"$COGNATE" dedup work.jsonl --dry-run --work work --tokens chars 2>&1
"$COGNATE" dedup work.jsonl --dry-run --work work --ngram 2 2>&1
cp work.jsonl other.jsonl
"$COGNATE" dedup other.jsonl --dry-run --work work 2>&1
"$COGNATE" dedup work.jsonl --dry-run --work work --against other.jsonl 2>&1
echo "exit $?"
"$COGNATE" dedup --dry-run --work work - <work.jsonl 2>&1
cat work.jsonl | "$COGNATE" dedup --dry-run --work piped - 2>&1
"$COGNATE" dedup t.tsv --dry-run --keep field:none 2>&1

# A work folder that holds somebody's files is refused, and they stay as they were; what a job of other options left before
# it had read anything is in nobody's way.
mkdir mine
echo rows of mine >mine/rows
echo draft >mine/letter.tmp.txt
"$COGNATE" dedup d.jsonl -o work.jsonl --work mine 2>&1 | sed "s/'[a-z.]*'/'...'/"
ls mine
"$COGNATE" dedup d.jsonl -o work.jsonl --work late --text-field nothing --ngram 2 2>/dev/null
echo "exit $?"
"$COGNATE" dedup d.jsonl -o work.jsonl --work late 2>&1
"$COGNATE" dedup d.jsonl -o work.jsonl --resume 2>&1
