# Standard input and other open files by any name: their first bytes say what they hold, not their names.
row='a text of a stream that is long enough'
printf '{"id": "a", "text": "%s"}\n{"id": "b", "text": "%s"}\n' "$row" "$row" >d.jsonl
printf '%s\n%s\n' "$row" "$row" >d.txt
count() { "$COGNATE" dedup "$@" --dry-run 2>&1 | sed 's|/dev/fd/[0-9]*|FD|'; }
for name in - /dev/stdin /dev/fd/0 /proc/self/fd/0; do
    echo "-- $name"
    count $name <d.jsonl
    cat d.jsonl | count $name
    count $name <d.txt
done
echo "-- other descriptors, a named pipe"
count /dev/fd/7 7<d.jsonl
count <(cat d.txt)
count <(cat d.txt) --lines
mkfifo pipe
cat d.jsonl >pipe &
count pipe
"$COGNATE" dedup - /dev/stdin --dry-run <d.jsonl 2>&1
(read -r line; "$COGNATE" dedup /dev/stdin -o - --quiet) <d.jsonl
echo "-- queries, each answered before the next one comes"
"$COGNATE" index build I d.jsonl --quiet
ask() { # the lines of stdin, each after the answer to the one before it
    coproc answers { "$COGNATE" search I - --format jsonl -k 1 2>&1; }
    while IFS= read -r line; do
        printf '%s\n' "$line" >&"${answers[1]}"
        read -r -t 60 -u "${answers[0]}" answer && echo "$answer"
    done
    exec {answers[1]}>&-
    cat <&"${answers[0]}"
    wait "$answers_PID" 2>/dev/null
}
printf '%s\n' 'long enough stream' 'a text' | ask
printf '%s\n' '{"id": "q1", "text": "long enough stream"}' '{"id": "q2", "text": "text"}' | ask
printf '[{"id": "q", "text": "stream"}]' | "$COGNATE" search I - -k 1
