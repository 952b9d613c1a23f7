# Processes that change an index are killed at random moments, one at a time and several at once; more kills in tests/long/index_kills.
here=$(dirname "$0")
python3 "$here/index_kills.py" "$COGNATE" 12 1
rm -r I
python3 "$here/index_kills.py" "$COGNATE" 18 3
for kind in rows sets minhash; do
    rm -r I
    python3 "$here/index_kills.py" "$COGNATE" 6 2 $kind
done
