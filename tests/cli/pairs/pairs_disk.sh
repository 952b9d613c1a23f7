# Pairs of signatures within a radius in less memory than they take: from a scratch file, the same as in memory; where
# the disk is full, exit status 3 and no result.
python3 - <<'PYTHON'
import random, struct
rng, rows = random.Random(3), 600000
words = [rng.getrandbits(64) for _ in range(rows)]
for row in range(0, rows, 7):
    words[row] = words[rng.randrange(rows)] ^ 1 << rng.randrange(64) ^ 1 << rng.randrange(64)
for row in range(0, rows, 5000):
    words[row] = 12345
header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 8), }" % rows
header += " " * (117 - len(header)) + "\n"
with open("s.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(b"".join(struct.pack(">Q", word) for word in words))
PYTHON
"$COGNATE" pairs s.npy --radius 3 --quiet -o memory.tsv
echo "exit $?"
[ "$(wc -l <memory.tsv)" -gt 80000 ] && echo "there are pairs"
mkdir scratch
TMPDIR=scratch "$COGNATE" pairs s.npy --radius 3 --memory 12M --quiet -o disk.tsv
echo "exit $?"
cmp memory.tsv disk.tsv && echo "from a scratch file: the same"
ls scratch | wc -l
(ulimit -f 512 && trap '' XFSZ && TMPDIR=scratch "$COGNATE" pairs s.npy --radius 3 --memory 12M --quiet -o full.tsv 2>err)
echo "file limit: exit $?"
sed 's/.*\(scratch file in TMPDIR\).*/\1/' err
ls full.tsv* 2>/dev/null | wc -l
(ulimit -f 512 && trap '' XFSZ && "$COGNATE" pairs s.npy --radius 3 --quiet -o full.tsv 2>/dev/null)
echo "result too large: exit $?"
ls full.tsv* 2>/dev/null | wc -l
