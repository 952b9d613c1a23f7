"""What the tests share: generated documents, the program of the package, and files of results."""
import json
import os
import pathlib
import random
import subprocess

import pytest

import cognate

PROGRAM = os.path.join(os.path.dirname(cognate.__file__), "cognate-program")
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("COGNATE_DATA", ROOT.parent / "shared/data"))


NOUNS = {"Haus": "house", "Buch": "book", "Hund": "dog", "Garten": "garden", "Straße": "street", "Wasser": "water",
         "Berg": "mountain", "Wald": "forest", "Schiff": "ship", "Vogel": "bird", "Lampe": "lamp", "Brot": "bread"}
VERBS = {"sieht": "sees", "sucht": "seeks", "findet": "finds", "kauft": "buys"}


@pytest.fixture(scope="session", name="lexicon")
def train_lexicon():
    """A lexicon of the words above."""
    pairs = [(f"der {a} {v} das {b}", f"the {NOUNS[a]} {VERBS[v]} the {NOUNS[b]}")
             for a in NOUNS for b in NOUNS for v in VERBS if a != b]
    return cognate.Lexicon.train(pairs, "de", "en")


def make_texts(count, seed=7, words=60):
    """Texts of which every third is an edit of an earlier one."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choice("bcdfglmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(3000)]
    texts = []
    for i in range(count):
        if i % 3 == 2:
            text = rng.choice(texts).split()
            for _ in range(rng.randrange(4)):
                text[rng.randrange(len(text))] = rng.choice(vocabulary)
        else:
            text = rng.choices(vocabulary, k=rng.randrange(words // 2, words * 2))
        texts.append(" ".join(text))
    return texts


@pytest.fixture(scope="session")
def texts():
    return make_texts(900)


@pytest.fixture(scope="session")
def jsonl(texts, tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)))
    return path


@pytest.fixture
def run(tmp_path):
    """Runs the program of the package in a scratch folder, and returns the lines of a table as lists of fields."""
    def call(*arguments, table=None, status=(0,)):
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode in status, done.stderr
        text = done.stdout if table is None else (tmp_path / table).read_text()
        return [line.split("\t") for line in text.splitlines()[1:]]
    call.folder = tmp_path
    return call


def shared(path):
    """A file of the shared data, or the test is skipped."""
    if not (DATA / path).exists():
        pytest.skip(f"{DATA / path} is not there")
    return DATA / path
