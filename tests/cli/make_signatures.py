# Writes rows.npy, queries.npy and weights.npy: random signatures of 64 bits, and queries that are such rows with noise
# added to the sums behind their bits. Arguments: rows, queries.
import array
import random
import sys


def write(path, kind, rows, columns, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }" % (kind, rows, columns)
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n" + data)


rows, queries = int(sys.argv[1]), int(sys.argv[2])
random.seed(7)
keys = [random.getrandbits(64) for _ in range(rows)]
asked, sums = [], array.array("f")
for _ in range(queries):
    origin, asking, noise = random.choice(keys), 0, random.uniform(0.02, 0.15)
    for bit in range(64):
        size = random.expovariate(1)
        value = (size if origin >> (63 - bit) & 1 else -size) + random.gauss(0, noise)
        sums.append(value)
        asking = asking << 1 | (value >= 0)
    asked.append(asking)
write("rows.npy", "|u1", rows, 8, b"".join(key.to_bytes(8, "big") for key in keys))
write("queries.npy", "|u1", queries, 8, b"".join(key.to_bytes(8, "big") for key in asked))
write("weights.npy", "<f4", queries, 64, sums.tobytes())
