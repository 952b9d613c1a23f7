"""What the tests of faults and of kills put into an index of each kind, and how they find it again.

A kind writes what a command adds, and reads what an index holds. Each thing has a name and a version of its content;
contents share nothing, so each is found by its own content alone."""
import json
import os
import random
import subprocess

BUILD = {"documents": [], "sets": ["--measure", "jaccard"], "minhash": ["--measure", "jaccard", "--no-vectors"], "rows": []}


def facts(program, folder):
    return json.loads(subprocess.run([program, "index", "info", folder, "--json"], capture_output=True, check=True).stdout)


class Documents:
    """Documents compared by cosine, by their sets, or by minhash signatures."""

    def __init__(self, program, kind):
        self.program, self.options = program, BUILD[kind]

    @staticmethod
    def text(name, version):
        return " ".join(f"{name}x{word}v{version}" for word in range(12))

    def lines(self, things):
        """Lines of input; a thing may have an id other than its name: (id, name, version)."""
        return "".join(json.dumps({"id": thing[0], "text": self.text(*thing[-2:])}) + "\n" for thing in things).encode()

    def given(self, things, path):
        """The argument and the input of a command that adds things."""
        del path
        return "-", self.lines(things)

    def build(self, folder, things):
        with open("first.jsonl", "wb") as file:
            file.write(self.lines(things))
        subprocess.run([self.program, "index", "build", folder, "first.jsonl", "--quiet", *self.options], check=True)

    def ask(self, folder, asked):
        return subprocess.run([self.program, "search", folder, "-", "--format", "jsonl", "-k", "1", "--quiet"],
                              input=self.lines([(f"{name}/{version}", name, version) for name, version in asked]),
                              capture_output=True, check=False)

    def found(self, folder, asked):
        """The ids of those of the asked things (name, version) that the index has."""
        answer = self.ask(folder, asked)
        assert answer.returncode in (0, 1), answer.stderr.decode()
        there = {}
        for line in answer.stdout.splitlines():
            row = json.loads(line)
            name, version = row["query"].split("/")
            same = [hit["id"] for hit in row["hits"] if self.is_same(hit)]
            if same and self.is_named(same[0], name):
                there[name, int(version)] = same[0]
        return there

    @staticmethod
    def is_same(hit):
        return hit.get("similarity", hit.get("estimate")) > 0.99

    @staticmethod
    def is_named(found, name):
        return found == name


class Rows(Documents):
    """Signatures of 256 bits without documents; their ids are numbers that the index gives."""

    BYTES = 32

    def write(self, things, path):
        header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(things)}, {self.BYTES}), }}"
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n")
            for thing in things:
                file.write(random.Random(f"{thing[-2]} {thing[-1]}").randbytes(self.BYTES))

    def given(self, things, path):
        self.write(things, path)
        return path, b""

    def build(self, folder, things):
        self.write(things, "first.npy")
        subprocess.run([self.program, "index", "build", folder, "first.npy", "--quiet"], check=True)

    def ask(self, folder, asked):
        asked = list(asked)
        self.write(asked, "asked.npy")
        answer = subprocess.run([self.program, "search", folder, "asked.npy", "--radius", "0", "--format", "jsonl", "--quiet"],
                                capture_output=True, check=False)
        by_query = {}
        for line in answer.stdout.splitlines():
            hit = json.loads(line)
            by_query.setdefault(int(hit["query"]), []).append(hit)
        lines = [json.dumps({"query": "/".join(map(str, asked[query])), "hits": hits}) for query, hits in by_query.items()]
        return subprocess.CompletedProcess(answer.args, answer.returncode, "\n".join(lines).encode(), answer.stderr)

    @staticmethod
    def is_same(hit):
        return hit["distance"] == 0

    @staticmethod
    def is_named(found, name):
        return True


def kind_of_index(program, kind):
    return (Rows if kind == "rows" else Documents)(os.path.abspath(program), kind)
