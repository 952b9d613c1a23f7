# An index that is fed one document at a time: small segments are merged, documents replaced, lines answered as they come.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 20 3 60 >all.jsonl
head -n 20 all.jsonl >first.jsonl
tail -n 40 all.jsonl >rest.jsonl
"$COGNATE" index build I first.jsonl --quiet
while read -r line; do
    printf '%s\n' "$line" >one.jsonl
    "$COGNATE" index add I one.jsonl --quiet
done <rest.jsonl
field() { # index, name
    "$COGNATE" index info $1 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' $2
}
[ $(field I segments) -le 14 ] && echo "41 segments were merged to few"
echo "$(field I rows) rows, $(field I removed) removed, $(field I content)"
"$COGNATE" index build F all.jsonl --quiet
for index in I F; do "$COGNATE" search $index all.jsonl --quiet | cut -f 1-4 >$index.hits; done
cmp I.hits F.hits && echo "the same as built"

# Replaced in one step: the old text is gone, the new one is found, a new document comes with it.
printf '{"id": "f0m0", "text": "an entirely different subject"}\n{"id": "new", "text": "a subject of its own"}\n' >changed.jsonl
"$COGNATE" index add I changed.jsonl 2>&1 | grep -v 'needs about'
"$COGNATE" index remove I new --quiet
"$COGNATE" index add I changed.jsonl --upsert --quiet --stats stats.json
grep -E '"(added|replaced|rows)"' stats.json
"$COGNATE" search I changed.jsonl -k 1 --quiet | cut -f 1-4
grep -v '"f0m0"' all.jsonl | cat - changed.jsonl >now.jsonl
"$COGNATE" index compact I --quiet && "$COGNATE" index build G now.jsonl --quiet
cmp I/segment-*.cog G/segment-*.cog && echo "replaced: the same bytes as built"
printf '{"id": "new", "text": ""}\n' >empty.jsonl
"$COGNATE" index add I empty.jsonl --upsert --quiet
echo "replaced by nothing: $(field I rows) rows"
"$COGNATE" index check I

# Waiting for another process that changes the index.
printf '{"id": "late", "text": "what comes late"}\n' >late.jsonl
flock I sleep 1 &
sleep 0.2
"$COGNATE" index add I late.jsonl --quiet --wait 30
echo "waited: exit $?, $(field I rows) rows"
wait
flock I "$COGNATE" index add I changed.jsonl --wait 0.1 2>&1
echo "waited in vain: exit $?"
"$COGNATE" index add I changed.jsonl --wait soon 2>&1

# Each line is answered before the next is written; a query without hits has its line in jsonl.
python3 - "$COGNATE" <<'PYTHON'
import json, subprocess, sys
program = subprocess.Popen([sys.argv[1], "search", "I", "-", "--format", "jsonl", "-k", "1", "--quiet"],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for query in open("late.jsonl").readlines() + ['{"id": "none", "text": "zzz"}\n', '{"id": "empty", "text": ""}\n',
                                               'no JSON at all\n', '{"id": "again"}\n',
                                               '{"id": "again", "text": "what comes late"}\n']:
    program.stdin.write(query)
    program.stdin.flush()
    answer = json.loads(program.stdout.readline())
    print(answer["query"], answer.get("error") or [(hit["rank"], hit["id"], hit["similarity"]) for hit in answer["hits"]])
program.stdin.close()
print("exit", program.wait())
PYTHON
# The report of a stream has the work of all queries, by several threads as by one.
for threads in 1 3; do
    "$COGNATE" search F - --threads $threads --quiet --stats stats.json -o stream <all.jsonl
    grep -E '"(method|comparisons|recall|queries|statistics_documents)"' stats.json
done
"$COGNATE" search F - --measure-recall <all.jsonl 2>&1
"$COGNATE" search F - --margins m.npy <all.jsonl 2>&1
printf 'what comes late\nzzz\n' | "$COGNATE" search I - --lines -k 1 --quiet
for threads in 1 3; do "$COGNATE" search F - --threads $threads --quiet <all.jsonl >stream.$threads; done
cmp stream.1 stream.3 && "$COGNATE" search F all.jsonl --quiet | cmp - stream.1 && echo "as a stream: the same answers"
echo '{"id": "none", "text": "zzz"}' | "$COGNATE" search I - --quiet
echo "nothing found: exit $?"
echo '{"id": "none", "text": "zzz"}' | "$COGNATE" search I - --format npy --quiet 2>&1 | head -c 6 | tail -c 5
echo

# Only what has no near-duplicate, in the index or before it in the input; matches are printed.
printf '{"id": "p", "text": "red green blue black white"}\n{"id": "q", "text": "red green blue black white"}\n{"id": "r", "text": "what comes late"}\n{"id": "s", "text": "another colour: orange and purple"}\n' >some.jsonl
"$COGNATE" index add I some.jsonl --unless-similar 0.9 --quiet --stats stats.json
grep -E '"(added|matched)"' stats.json
"$COGNATE" index add I some.jsonl --unless-similar 0.9 --upsert --quiet
"$COGNATE" index add I some.jsonl --unless-similar 2 2>&1
"$COGNATE" index check I

# A document with words that no other has is as near to its copy before a merge as after one, also with a least frequency.
python3 "$here/../make_documents.py" 40 2 80 >eighty.jsonl
text="the first words of eighty documents, and zebra quagga quagga okapi that only one has"
for frequency in 1 2; do
    "$COGNATE" index build W$frequency eighty.jsonl --min-frequency $frequency --quiet
    printf '{"id": "rare", "text": "%s"}\n' "$text" | "$COGNATE" index add W$frequency - --quiet
    printf '{"id": "copy", "text": "%s"}\n' "$text" | "$COGNATE" index add W$frequency - --unless-similar 0.9 --quiet
done

# Ids are escaped as in all results; a message is one line, whatever an id holds.
printf '{"id": "%s\\nb\\t\\\\c", "text": "red green blue black white"}\n' a n >odd.jsonl
head -n 1 odd.jsonl >first.jsonl
"$COGNATE" index build O first.jsonl --quiet
"$COGNATE" index add O odd.jsonl --unless-similar 0.9 --upsert --quiet
"$COGNATE" index add O odd.jsonl --unless-similar 0.9 --upsert --quiet | cut -f 2 | tail -n 1 >ids
"$COGNATE" index add O first.jsonl 2>&1
"$COGNATE" index remove O --ids ids 2>&1
