"""Options by chance: the cluster answers as the command line does. Two draws of sixteen run without COGNATE_LONG."""
import json
import os
import random
import subprocess

import pytest

import cognate
import cognate.spark
from test_dedup import make_texts

PROGRAM = os.path.join(os.path.dirname(cognate.__file__), "cognate-program")
COSINE = {"window": {"tables": 6, "window": 30}, "lsh": {"tables": 6, "key_bits": 12, "flips": 2}, "flat": {}}
DRAWS = [draw if draw in (1, 2) else pytest.param(draw, marks=pytest.mark.long) for draw in range(16)]


class Draw:
    """Documents, options of the result as both sides name them, and how the cluster gets there."""

    def __init__(self, number, folder):
        self.random, self.folder = random.Random(number), folder
        self.job = ("clusters", "against", "pairs", "pairs between", "cosine")[number % 5]
        self.options = {"threshold": self.chosen(0.3, 0.5, 0.6, 0.75, 0.8, 1.0)}
        texts = [text for text in make_texts(self.chosen(60, 200), number) if text is not None]
        self.rows = [{"id": row, "text": text, "stars": self.random.randrange(-3, 4)} for row, text in enumerate(texts)]
        self.how = {"partitions": self.chosen(1, 3, 8)} if self.job == "cosine" else self._steps()
        if self.job == "cosine":
            self.method = self.chosen(*COSINE)
            self.options.update(threshold=self.chosen(0.6, 0.75, 0.9), seed=number, method=self.method)
        else:
            self.options["measure"] = self.chosen("jaccard", "containment")
        if self.job == "clusters":
            self.options["keep"] = self.chosen("longest", "first", "last", "field:stars", "field:stars:min")
            self.options["grouping"] = self.chosen("representative", "connected")
        tokens, ngrams = self.chosen(("words", (None, 1, 2)), ("regex", (None, 2)), ("chars", (5, 8)), ("code", (None, 3)))
        self.terms = {"tokens": tokens, "ngram": self.chosen(*ngrams), "language": self.chosen(None, "en")}
        self.terms = {name: value for name, value in self.terms.items() if value is not None}

    def chosen(self, *values):
        return self.random.choice(values)

    def _steps(self):
        """In one task, or in many with small blocks."""
        if self.chosen(True, False):
            return {}
        steps = {"block_rows": self.chosen(None, 8)}
        if self.job in ("clusters", "against"):
            steps.update(documents_at_once=self.chosen(None, 0), pairs_at_once=self.chosen(None, 0))
        return {"members_at_once": 0, **{name: value for name, value in steps.items() if value is not None}}

    def command(self, name, *arguments):
        """The lines of the table that the command line writes."""
        given = {"tokens": "tokens", "ngram": "ngram", "language": "lang"}
        options = {**self.options, **{given[name]: value for name, value in self.terms.items()}}
        options.update({knob.replace("_", "-"): value for knob, value in COSINE[self.method].items()}
                       if self.job == "cosine" else {})
        parts = [part for option, value in options.items() for part in (f"--{option}", str(value))]
        done = subprocess.run([PROGRAM, name, *arguments, *parts, "--quiet"], cwd=self.folder, capture_output=True,
                              text=True)
        assert done.returncode in (0, 1), done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()[1:]]

    def files(self, *parts):
        """The names of files of these parts of the documents."""
        for number, rows in enumerate(parts):
            (self.folder / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return [f"{number}.jsonl" for number in range(len(parts))]

    def frames(self, spark, *parts):
        """The same as DataFrames."""
        return [spark.createDataFrame([tuple(row.values()) for row in rows], "id long, text string, stars int")
                .repartition(self.chosen(1, 4)) for rows in parts]

    def halves(self):
        middle = len(self.rows) // 2
        return self.rows[:middle], self.rows[middle:]


@pytest.mark.parametrize("number", DRAWS)
def test_the_answer_of_the_command_line(spark, tmp_path, number):
    draw = Draw(number, tmp_path)
    (_check_dedup if draw.job in ("clusters", "against") else _check_pairs)(spark, draw)


def _check_dedup(spark, draw):
    parts = draw.halves() if draw.job == "against" else (draw.rows,)
    names, frames = draw.files(*parts), draw.frames(spark, *parts)
    more = [] if len(parts) == 1 else ["--against", names[1]]
    assert draw.command("dedup", names[0], *more, "-o", "kept.jsonl", "--clusters", "clusters.tsv") == []
    kept = [json.loads(line)["id"] for line in (draw.folder / "kept.jsonl").read_text().splitlines()]
    wanted = [line.split("\t") for line in (draw.folder / "clusters.tsv").read_text().splitlines()[1:]]
    options = {**draw.options, **draw.terms, **draw.how, "against": frames[1] if more else None}
    report = {}
    found = cognate.spark.clusters(frames[0], report=report, **options).collect()
    assert sorted((row["cluster"], row["id"], row["representative"], row["kept"]) for row in found) == sorted(
        (int(cluster), int(id), int(representative), is_kept == "1")
        for cluster, id, representative, _, is_kept in wanted)
    measured = {int(id): float(similarity) for _, id, _, similarity, _ in wanted}
    assert {row["id"]: row["similarity"] for row in found} == pytest.approx(measured, abs=1e-6)
    assert sorted(row["id"] for row in cognate.spark.dedup(frames[0], **options).collect()) == kept
    assert report["kept"] == len(kept) < len(parts[0])


def _check_pairs(spark, draw):
    parts = draw.halves() if draw.job == "pairs between" else (draw.rows,)
    names, frames = draw.files(*parts), draw.frames(spark, *parts)
    lines = draw.command("pairs", names[0], *(["--against", names[1]] if len(parts) == 2 else []))
    wanted = {(int(a), int(b)): (float(similarity), distance) for a, b, similarity, distance in lines}
    options = {**draw.options, **draw.terms, **draw.how}
    if draw.job == "cosine":
        options.update(measure="cosine", knobs=COSINE[draw.method], recall_rows=0)
    rows = cognate.spark.pairs(*frames, **options).collect()
    found = {(row["a"], row["b"]): (row["similarity"], "-" if row["distance"] is None else str(row["distance"]))
             for row in rows}
    assert wanted and found.keys() == wanted.keys()
    for pair, (similarity, distance) in wanted.items():
        assert found[pair] == (pytest.approx(similarity, abs=2e-6), distance)
