# A full disk: exit status 3, a message that names the folder, what was there before stays as it was, and nothing
# half-written is left. The disk is a small file system in memory, which needs a name space of its own.
unshare -rm true 2>/dev/null || unshare -m true 2>/dev/null || { echo "SKIP no name spaces here"; exit; }
unshare -rm true 2>/dev/null && flags=-rm || flags=-m
here=$(dirname "$0")
python3 "$here/../make_documents.py" 300 2 80 >d.jsonl
mkdir disk
export COGNATE here=$PWD
unshare $flags bash -s <<'S' || echo "SKIP no file system in memory here"
mount -t tmpfs -o size=64k none disk 2>/dev/null || exit 1
echo "as it was" >disk/kept.jsonl
run() {
    "$COGNATE" dedup d.jsonl "$@" --quiet 2>&1 | sed "s|$here/||; s/tmp\.[0-9.]*/tmp/"
    echo "exit ${PIPESTATUS[0]}"
}
run -o disk/kept.jsonl
run -o disk/new/
mkdir disk/old
run -o disk/old
cat disk/kept.jsonl
find disk | sort
echo "-- scratch files, without an output"
TMPDIR=$PWD/disk run --dry-run
echo "-- a work folder, which goes on when there is room"
run -o kept.jsonl --work disk/stages
[ ! -e kept.jsonl ] && echo "no output"
mount -o remount,size=16m disk
run -o kept.jsonl --work disk/stages --resume
"$COGNATE" dedup d.jsonl -o undisturbed.jsonl --quiet
cmp kept.jsonl undisturbed.jsonl && echo same
rm -r disk/stages
echo "-- disks of many sizes: all or nothing"
cp undisturbed.jsonl before.jsonl
for size in 72 96 128 192 256 320 384 448 512 640 768 1024 2048; do
    mount -o remount,size=${size}k disk
    echo "as it was" >disk/kept.jsonl
    "$COGNATE" dedup d.jsonl -o disk/kept.jsonl --removed disk/removed.tsv --work disk/stages --quiet 2>error
    status=$?
    case $status in
    0) cmp -s disk/kept.jsonl undisturbed.jsonl || echo "$size kB: another result" ;;
    3) [ "$(cat disk/kept.jsonl)" = "as it was" ] || echo "$size kB: output was touched"
       grep -q "disk.*No space left on device; make room" error || cat error ;;
    *) echo "$size kB: exit $status"; cat error ;;
    esac
    echo $status >>statuses
    [ -z "$(find disk -name '*tmp*')" ] || find disk
    rm -rf disk/stages disk/removed.tsv disk/kept.jsonl
done
echo "$(grep -c 3 statuses) or more were too small, the last was not: $(tail -1 statuses)" | sed 's/^[1-9][0-9]* /some /'
S
echo "-- a limit on the size of files"
echo "as it was" >kept.jsonl
for limit in 8 64 100000; do
    (ulimit -f $limit; "$COGNATE" dedup d.jsonl -o kept.jsonl --quiet 2>&1) | sed "s|$PWD|.|"
    echo "exit ${PIPESTATUS[0]}: $(wc -c <kept.jsonl) bytes"
done
