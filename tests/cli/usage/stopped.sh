# A command that is stopped leaves nothing behind: one that looks, one that waits for its input and does not look, one
# that gets two signals, and for every signal that ends a command.
appears() { # pattern: waits until such a file is there
    for _ in $(seq 500); do
        ls $1 >/dev/null 2>&1 && return
        sleep 0.02
    done
    echo "no $1"
}
stop() { # name, signals...
    local name=$1
    shift
    for signal in "$@"; do
        kill -$signal $pid
        sleep 0.1
    done
    wait $pid
    echo "$name: exit $?, left: $(ls -d out* 2>/dev/null)"
}

mkfifo pipe
yes '{"text": "one two three four"}' >pipe &
writer=$!
"$COGNATE" sign pipe --input-format jsonl --signature simhash -o out.npy --quiet &
pid=$!
appears 'out.npy.tmp.*'
stop "endless input" INT
kill $writer
wait $writer 2>/dev/null

for signals in INT TERM HUP "INT INT"; do
    sleep 60 >pipe &
    writer=$!
    "$COGNATE" sign pipe --input-format jsonl --signature simhash -o out.npy --ids out.txt --quiet &
    pid=$!
    appears 'out.npy.tmp.*'
    stop "waiting for input, $signals" $signals
    kill $writer
    wait $writer 2>/dev/null
done
