# A report on pages of one template, none near enough to go: below the threshold it looks at a sample, whatever the
# number of threads, and its numbers are near those of all comparisons.
cat >check.py <<'P'
import json, random, re, subprocess, sys
rng = random.Random(3)
shared = " ".join(f"w{rng.randrange(50000)}" for _ in range(180))
texts = [shared + " " + " ".join(f"o{rng.randrange(20)}" for _ in range(20)) for _ in range(2500)]
grams = [{tuple(words[i:i + 3]) for i in range(len(words) - 2)} for words in map(str.split, texts)]
with open("d.jsonl", "w") as out:
    for row, text in enumerate(texts):
        out.write(json.dumps({"id": f"d{row}", "text": text}) + "\n")

def run(*options):
    done = subprocess.run([sys.argv[1], "dedup", "d.jsonl", "--tokens", "regex", "--threshold", "0.9", "--dry-run", *options],
                          check=True, stderr=subprocess.PIPE, text=True)
    return done.stderr
pages = []
for threads in "1", "2":
    errors = run("--report", "r.html", "--threads", threads)
    pages.append(open("r.html").read())
print(re.sub(r"\d+", "N", errors), end="")
print("the same page for every number of threads:", pages[0] == pages[1])
found = json.loads(re.search(r'id="result">(.*?)</script>', pages[0], re.S)[1])
kept, compared = found["kept"], found["keptCompared"]
print("a sample:", 256 <= compared < kept, "all stand in the histogram:", kept - 20 <= sum(found["bins"]["kept"]) <= kept)
row = found["documents"]["row"]
good = all(round(len(grams[row[a]] & grams[row[b]]) / len(grams[row[a]] | grams[row[b]]) * 1e6) == s for a, b, s in found["below"])
print("similarities:", good and len(found["below"]) > 100)
# All comparisons of some documents: the histogram's mean is near theirs. Of each document up to 256 others are compared,
# so that its nearest one may be missed.
some = rng.sample(range(len(texts)), 40)
best = [max(len(grams[a] & other) / len(grams[a] | other) for b, other in enumerate(grams) if b != a) for a in some]
mean = sum(bin * number for bin, number in enumerate(found["bins"]["kept"])) / sum(found["bins"]["kept"]) / 1000
print("mean of the nearest:", abs(mean - sum(best) / len(best)) < 0.02)
P
python3 check.py "$COGNATE"
