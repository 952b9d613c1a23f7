# A full disk: exit status 3, what was there before stays as it was, and nothing half-written is left.
# The disk is a small file system in memory, which needs a name space of its own.
unshare -rm true 2>/dev/null || unshare -m true 2>/dev/null || { echo "SKIP no name spaces here"; exit; }
unshare -rm true 2>/dev/null && flags=-rm || flags=-m
here=$(dirname "$0")
python3 "$here/make_documents.py" 300 2 80 >d.jsonl
mkdir disk
export COGNATE
unshare $flags bash -s <<'S' || echo "SKIP no file system in memory here"
mount -t tmpfs -o size=64k none disk 2>/dev/null || exit 1
echo "as it was" >disk/kept.jsonl
run() {
    "$COGNATE" dedup d.jsonl "$@" --quiet 2>&1 | sed 's/tmp\.[0-9.]*/tmp/'
    echo "exit ${PIPESTATUS[0]}"
}
run -o disk/kept.jsonl
run -o disk/new/
mkdir disk/old
run -o disk/old
cat disk/kept.jsonl
find disk | sort
S
