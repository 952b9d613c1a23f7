# The three formats of a result hold the same rows.
here=$(dirname "$0")
python3 "$here/../make_documents.py" 60 3 60 >d.jsonl
cat >same.py <<'P'
import ast, json, struct, sys
tsv, jsonl, npy = sys.argv[1:4]
data = open(npy, "rb").read()
length = struct.unpack("<H", data[8:10])[0]
header = ast.literal_eval(data[10 : 10 + length].decode())
assert data[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0, "npy header"
names = [name for name, _ in header["descr"]]
codes = "<" + "".join({"<u4": "I", "<f4": "f", "<i4": "i"}[kind] for _, kind in header["descr"])
records = list(struct.iter_unpack(codes, data[10 + length :]))
lines = [line.rstrip("\n").split("\t") for line in open(tsv)]
objects = [json.loads(line) for line in open(jsonl)]
assert lines[0] == names and len(records) == header["shape"][0] == len(lines) - 1 == len(objects), "counts"
ids = json.load(open("ids.json"))
for line, record, item in zip(lines[1:], records, objects):
    for name, text, number in zip(names, line, record):
        if isinstance(item.get(name), str):
            assert item[name] == text == ids[number], (name, text, number)
        elif text == "-":
            assert name not in item and number == -1
        else:
            assert abs(float(text) - number) < 1e-6 and abs(item[name] - number) < 1e-6, (name, text, number)
print(len(records), "rows of", " ".join(names))
P
python3 -c 'import json; json.dump([json.loads(l)["id"] for l in open("d.jsonl")], open("ids.json", "w"))'
for command in 'pairs d.jsonl -t 0.3 -o' 'search d.jsonl d.jsonl -k 3 -o' 'dedup d.jsonl -t 0.3 --clusters'; do
    for format in tsv jsonl npy; do "$COGNATE" $command out.$format --format $format --quiet; done
    python3 same.py out.tsv out.jsonl out.npy
done
