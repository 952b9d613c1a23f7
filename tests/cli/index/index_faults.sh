# Loss of power and failing calls while an index changes; all moments in tests/long/index_faults. A sanitized program cannot
# be loaded behind another library.
here=$(dirname "$0")
if nm "$COGNATE" 2>/dev/null | grep -q -e __asan_init -e __tsan_init; then echo "SKIP the program is sanitized"; exit; fi
for kind in "power 0.1" "files 0.25" "memory 0.03" "power 0.2 rows" "files 0.3 rows" "memory 0.05 rows" "files 0.1 sets" "files 0.1 minhash"; do
    python3 "$here/index_faults.py" "$COGNATE" $kind
    rm -rf I J
done
