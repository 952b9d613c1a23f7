"""An index against a model: after random additions, replacements, removals and merges, `search`, `pairs`, `pairs` against
the index and `explain` give the same similarities as the documents that the model holds.

usage: index_model.py PROGRAM ROUNDS
"""
import json
import random
import subprocess
import sys

program, rounds = sys.argv[1], int(sys.argv[2])
words = [f"w{number}" for number in range(60)]


def run(*arguments, given=""):
    done = subprocess.run([program, *arguments], input=given, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), f"{arguments}: {done.stderr}"
    return done.stdout + (done.stderr if arguments[0] == "explain" else "")


def lines(documents):
    return "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in documents.items())


class Model:
    def __init__(self, measure, dice):
        self.measure, self.dice, self.made, self.documents = measure, dice, 0, {}
        self.name = f"{measure}.index"

    def text(self):
        """New words, or an earlier text, with a word changed or not."""
        if self.documents and self.dice.random() < 0.6:
            text = self.dice.choice(list(self.documents.values())).split()
            for _ in range(self.dice.randrange(2)):
                text[self.dice.randrange(len(text))] = self.dice.choice(words)
        else:
            text = self.dice.choices(words, k=self.dice.choice((2, 5, 12, 30)))
        return " ".join(text)

    def add(self, *options):
        fresh = {f"d{self.made + i}": self.text() for i in range(self.dice.choice((1, 2, 7)))}
        self.made += len(fresh)
        if options and self.documents:
            fresh[self.dice.choice(list(self.documents))] = self.text()
        run("index", "add", self.name, "-", "--quiet", *options, given=lines(fresh))
        for name, text in fresh.items():
            self.documents.pop(name, None)  # a new version comes last
            self.documents[name] = text

    def remove(self):
        gone = self.dice.sample(list(self.documents), min(len(self.documents) - 1, self.dice.choice((1, 3))))
        run("index", "remove", self.name, *gone, "absent", "--quiet")
        for name in gone:
            del self.documents[name]

    def step(self):
        kind = self.dice.randrange(6)
        if kind == 0:
            run("index", "compact", self.name, "--quiet")
        elif kind == 1 and len(self.documents) > 4:
            self.remove()
        elif kind == 2:
            self.add("--upsert")
        else:
            self.add()

    def compare(self, threshold):
        with open("left.jsonl", "w", encoding="utf-8") as file:
            file.write(lines(self.documents))
        options = ("--threshold", threshold, "--quiet")
        measure = ("--measure", self.measure)
        found = set()
        for line in run("search", self.name, "left.jsonl", *options).splitlines()[1:]:
            query, _, name, similarity = line.split("\t")[:4]
            if query != name:
                found.add((*sorted((query, name)), similarity))
        pairs = {(*sorted(line.split("\t")[:2]), line.split("\t")[2])
                 for line in run("pairs", "left.jsonl", *measure, *options).splitlines()[1:]}
        assert found == pairs, f"{self.measure}: search and pairs differ: {sorted(found ^ pairs)[:4]}"
        against = [run("pairs", "left.jsonl", "--against", other, *measure, *options) for other in (self.name, "left.jsonl")]
        assert against[0] == against[1], f"{self.measure}: pairs differ against the index and its documents"
        for a, b, similarity in self.dice.sample(sorted(found), min(3, len(found))):
            told = run("explain", a, b, "--from", "left.jsonl", *measure)
            assert similarity in told, f"{self.measure}: {a} {b}: not {similarity}: {told}"
        return len(found)


for measure in ("cosine", "jaccard", "containment"):
    compared = 0
    for seed in range(rounds):
        model = Model(measure, random.Random(f"{measure} {seed}"))
        with open("first.jsonl", "w", encoding="utf-8") as file:
            file.write(lines({"first": "w1 w2 w3 w4"}))
        run("index", "build", model.name, "first.jsonl", "--measure", measure, "--quiet")
        model.documents["first"] = "w1 w2 w3 w4"
        for number in range(12):
            model.step()
            if number % 3 == 2:
                compared += model.compare(random.Random(number).choice(("0.1", "0.3", "0.8")))
        run("index", "check", model.name, "--quiet")
        subprocess.run(["rm", "-r", model.name], check=True)
    print(f"{measure}: the same similarities" if compared > 20 * rounds else f"{measure}: few pairs: {compared}")
