# An index in a folder: built, added to, removed from, compacted; answers do not change by it.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 60 3 60 >all.jsonl
head -n 100 all.jsonl >a.jsonl
tail -n 90 all.jsonl >b.jsonl
"$COGNATE" index build I a.jsonl --method slices --quiet
echo "exit $?"
"$COGNATE" index build I a.jsonl 2>&1
echo "again: exit $?"
"$COGNATE" index add I b.jsonl --bits 64 2>&1
"$COGNATE" index add I b.jsonl 2>&1 | sed -n "2,3p;11,$ p"
"$COGNATE" index info I | grep -v bytes
"$COGNATE" index check I
"$COGNATE" index remove I f0m0 f0m1 f59m2 unknown 2>&1
echo "exit $?"
"$COGNATE" index remove I f0m0 --quiet
echo "removed before: exit $?"
for method in exact flat; do
    "$COGNATE" search I all.jsonl --method $method --quiet >$method.before
done
grep -c -P '\tf0m[01]\t' exact.before
"$COGNATE" index compact I --quiet
ls I
"$COGNATE" index info I | head -n 4
for method in exact flat; do
    # Signatures are made anew, by the statistics of now: distances change.
    "$COGNATE" search I all.jsonl --method $method --quiet | cut -f 1-4 | cmp - <(cut -f 1-4 $method.before) &&
        echo "$method: the same"
done
head -n 1 all.jsonl >one.jsonl
"$COGNATE" index build one.jsonl missing.jsonl 2>&1 # the folder is refused before anything is read
"$COGNATE" index add I one.jsonl --quiet
"$COGNATE" search I one.jsonl -k 1 --quiet
"$COGNATE" search I all.jsonl --bits 64 2>&1
echo "exit $?"
"$COGNATE" search I all.jsonl --tokens chars 2>&1
"$COGNATE" search I all.jsonl --bits 1024 --stem yes --quiet | head -n 1
"$COGNATE" index build N a.jsonl --no-vectors --quiet
"$COGNATE" search N one.jsonl -k 1 --quiet
"$COGNATE" search N one.jsonl --method exact 2>&1
"$COGNATE" search N one.jsonl --method slices 2>&1
"$COGNATE" sign a.jsonl -o a.npy --quiet
"$COGNATE" index build S a.npy --quiet
"$COGNATE" index add S a.npy --quiet
"$COGNATE" index remove S 0 99 --quiet
"$COGNATE" index compact S --quiet
"$COGNATE" search S a.npy -k 2 --quiet | sed -n '2p;4,5p'
"$COGNATE" index add S a.npy --quiet
"$COGNATE" index info S | head -n 2
"$COGNATE" index add S a.jsonl 2>&1
"$COGNATE" index add I a.npy 2>&1
: >none.jsonl
"$COGNATE" index build E none.jsonl --quiet
"$COGNATE" search E a.jsonl --quiet
echo "searching an empty index: exit $?"
"$COGNATE" index build F a.jsonl --quiet
"$COGNATE" index add E a.jsonl --quiet && "$COGNATE" index check E
"$COGNATE" search E a.jsonl --quiet >filled; "$COGNATE" search F a.jsonl --quiet | cmp - filled && echo "filled: the same as built, $(wc -l <filled) lines"
mkdir other && touch other/notes.txt
"$COGNATE" index build other a.jsonl --quiet 2>&1
echo "a folder with other files: exit $?, $(ls other)"
# Ids from a file, as results write them, or standard input; a locked index.
printf '{"id": "tab\\there", "text": "one two three"}\n{"id": "back\\\\nslash", "text": "one two four"}\n{"id": "plain", "text": "one two five"}\n' >odd.jsonl
"$COGNATE" index build O odd.jsonl --quiet
"$COGNATE" search O odd.jsonl -k 1 --quiet | tail -n +2 | cut -f 3 | head -n 2 >ids
cat ids
"$COGNATE" index remove O --ids ids --stats stats.json
echo "exit $?, $(grep removed stats.json)"
printf '\nplain\r\nplain\nnobody\n' | "$COGNATE" index remove O --ids - 2>&1
"$COGNATE" index info O | sed -n '2,3p'
"$COGNATE" index remove O --ids ids --quiet
echo "removed before: exit $?"
"$COGNATE" index remove O plain --ids ids 2>&1
"$COGNATE" index remove O --ids nowhere 2>&1
gzip -c ids >ids.gz
# A place in standard input is no name: nothing is replaced by it.
echo '{"text": "some words of nobody"}' | "$COGNATE" index add O - --input-format jsonl 2>&1 | tail -n 1
for options in "" "--unless-similar 0.9"; do
    echo '{"text": "other things"}' | "$COGNATE" index add O - --input-format jsonl --upsert $options 2>&1 | tail -n 2
done
# Others are waited for, by documents, removals and signatures.
echo -:1 >placed
"$COGNATE" sign odd.jsonl --bits 128 -o odd.npy --quiet
"$COGNATE" index build signed odd.npy --quiet
for change in "remove O --ids placed" "add signed odd.npy"; do
    (flock 9 && sleep 0.4) 9<"$(echo $change | cut -d ' ' -f 2)" &
    sleep 0.1
    "$COGNATE" index $change 2>/dev/null || echo "busy: exit $?"
    "$COGNATE" index $change --wait 60 2>&1
    wait
done
# Many additions of one signature leave few segments.
for i in $(seq 20); do "$COGNATE" index add signed odd.npy --quiet; done
"$COGNATE" index info signed | awk '/^rows/ { print } /^segments/ { print ($2 <= 9 ? "few" : $2) " segments" }'
flock O "$COGNATE" index remove O --ids ids.gz 2>&1
echo "locked: exit $?"
# At once, whatever would have to be read: here it never comes.
mkfifo endless && exec 9<>endless
for change in "add O -" "remove O --ids -" "compact O"; do
    flock O timeout 20 "$COGNATE" index $change <&9 2>&1
    echo "locked, $change: exit $?"
done
exec 9>&-
flock O "$COGNATE" search O odd.jsonl --quiet
echo "searched: exit $?"
"$COGNATE" index 2>&1
"$COGNATE" index add I 2>&1
"$COGNATE" index check nowhere 2>&1
echo "exit $?"
# Of two that build one folder, the second is refused before it reads.
mkfifo documents
"$COGNATE" index build both documents --input-format jsonl --quiet &
exec 3>documents # open as soon as the first reads
"$COGNATE" index build both missing.jsonl 2>&1
echo "second: exit $?"
head -n 20 all.jsonl >&3
exec 3>&-
wait $!
echo "first: exit $?"
"$COGNATE" index info both | head -n 2
