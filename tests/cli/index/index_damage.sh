# Damaged, truncated, foreign and missing files of an index are refused with the reason, and nothing crashes.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 20 3 60 >d.jsonl
"$COGNATE" index build I d.jsonl --method slices --quiet
"$COGNATE" sign d.jsonl -o s.npy --quiet
. "$here/../damage.sh"
for name in manifest segment-00000000.cog; do
    for damage in "truncate -s -9" "cp s.npy" rm "flip"; do
        rm -rf D && cp -r I D
        if [ "$damage" = flip ]; then flip D/$name 0.5; else $damage D/$name; fi
        "$COGNATE" index check D 2>&1 | sed 's/[0-9]\{3,\}/N/g'
        "$COGNATE" index check D >/dev/null 2>&1
        echo "$name, $damage: exit $?"
    done
done
# The parts of an index without its manifest are not read as documents; the folder can be built again.
rm -rf D && cp -r I D && rm D/manifest
for command in "search D d.jsonl" "index add D d.jsonl" "index info D" "dedup d.jsonl --against D -o kept"; do
    "$COGNATE" $command 2>&1
    echo "exit $?"
done
"$COGNATE" index build D d.jsonl --quiet && "$COGNATE" index check D
crashed=0
for place in $(seq 0.01 0.04 0.99); do
    rm -rf D && cp -r I D && flip D/segment-00000000.cog $place
    "$COGNATE" index check D >/dev/null 2>&1
    [ $? -eq 2 ] || echo "not seen at $place"
    for method in exact flat slices; do
        "$COGNATE" search D d.jsonl --method $method >/dev/null 2>&1
        [ $? -le 2 ] || crashed=$((crashed + 1))
    done
done
echo "crashed $crashed times"
