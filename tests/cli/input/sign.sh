# Signatures do not depend on threads, compression, or the way the documents come in.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 300 3 60 >d.jsonl
for kind in rp simhash topsig minhash; do
    rm -f w.npy
    weights="--weights w.npy"
    [ $kind = minhash ] && weights=
    "$COGNATE" sign d.jsonl -o one.npy --signature $kind --threads 1 --ids ids $weights
    echo "$kind: $?, $(wc -l <ids) ids, $(stat -c %s one.npy) bytes, weights $(stat -c %s w.npy 2>&1 | grep -v stat) bytes"
    "$COGNATE" sign d.jsonl -o two.npy --signature $kind --threads 2
    cmp one.npy two.npy && echo "threads: same"
    for level in portable avx2; do
        COGNATE_CPU=$level "$COGNATE" sign d.jsonl -o level.npy --signature $kind
        cmp one.npy level.npy && echo "$level: same"
    done
    "$COGNATE" sign - -o piped.npy --signature $kind <d.jsonl
    cmp one.npy piped.npy && echo "standard input: same"
    "$COGNATE" sign - -o - --signature $kind <d.jsonl | cmp - one.npy && echo "standard output: same"
done
gzip -k d.jsonl && xz -k d.jsonl && bzip2 -k d.jsonl && zstd -q d.jsonl
"$COGNATE" sign d.jsonl -o one.npy
for packed in gz xz bz2 zst; do
    "$COGNATE" sign d.jsonl.$packed -o packed.npy && cmp one.npy packed.npy && echo "$packed: same"
done
python3 -c 'import struct; d = open("one.npy", "rb").read(); print(d[:8], d[10:75].decode().split("}")[0] + "}")'
