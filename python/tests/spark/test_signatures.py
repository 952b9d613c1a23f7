"""Pairs by cosine: those of the command line, for every number of partitions."""
import json
import random
import subprocess

import pytest

import cognate
import cognate.spark

PROGRAM = cognate.__path__[0] + "/cognate-program"


def write_documents(path, count, seed):
    """Families of texts, some of them short, equal or empty."""
    draw = random.Random(seed)
    words = [a + b + c for a in ("ba", "de", "fi", "go", "lu", "mi") for b in ("ma", "ne", "ri", "so", "tu", "pa")
             for c in ("ka", "pe", "xi", "zo", "vu", "tam")]
    common = random.Random(5)
    heads = [[common.choice(words) for _ in range(common.randint(3, 60))] for _ in range(count // 5)]
    rows = []
    for number in range(count):
        text = list(draw.choice(heads))
        for _ in range(draw.choice([0, 0, 1, 2, 8])):
            text[draw.randrange(len(text))] = draw.choice(words)
        rows.append({"id": f"{seed}-{number:06d}", "text": " ".join(text) if number % 97 else ""})
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return rows


def one_machine(folder, *arguments):
    """Pairs of the program, with its statistics."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--stats", folder / "stats.json", "--quiet"], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    pairs = {(a, b): (float(similarity), -1 if distance in ("", "-") else int(distance))
             for a, b, similarity, distance in lines}
    return pairs, json.loads((folder / "stats.json").read_text())


def same(found, expected):
    pairs = {(row.a, row.b): (row.similarity, -1 if row.distance is None else row.distance) for row in found}
    assert pairs.keys() == expected.keys(), (len(pairs), len(expected), sorted(pairs.keys() ^ expected.keys())[:5])
    for pair, (similarity, distance) in expected.items():
        assert pairs[pair][0] == pytest.approx(similarity, abs=2e-6) and pairs[pair][1] == distance


METHODS = {"window": (["--tables", 6, "--window", 30], {"tables": 6, "window": 30}),
           "lsh": (["--key-bits", 12, "--tables", 6, "--flips", 2, "--flip-mode", "distance"],
                   {"key_bits": 12, "tables": 6, "flips": 2, "flip_mode": 1}),
           "flat": ([], {})}


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    write_documents(folder / "a.jsonl", 600, 1)
    write_documents(folder / "b.jsonl", 300, 2)
    return folder


def test_pairs_of_one_machine(spark, collections):
    for method, partitions in (("window", 7), ("lsh", 3)):
        arguments, knobs = METHODS[method]
        expected, stats = one_machine(collections, "pairs", "a.jsonl", "--method", method, "--threshold", 0.7, "--seed", 3,
                                      *arguments)
        assert len(expected) > 150 and all(distance >= 0 for _, distance in expected.values())
        report = {}
        frame = spark.read.json(str(collections / "a.jsonl")).repartition(3)
        found = cognate.spark.pairs(frame, measure="cosine", threshold=0.7, method=method, knobs=knobs, seed=3,
                                    partitions=partitions, block_rows=100, report=report).collect()
        same(found, expected)
        if method == "window":
            assert report["comparisons"] == stats["comparisons"]
        assert report["radius_bits"] == stats.get("radius_bits", report["radius_bits"])
        assert report["shuffled_bytes"] > 0
        assert report["measured_recall_low"] - 0.02 <= stats["measured_recall"] <= report["measured_recall_high"] + 0.02


@pytest.mark.long
def test_pairs_between_collections(spark, collections):
    frames = [spark.read.json(str(collections / name)) for name in ("a.jsonl", "b.jsonl")]
    for method, partitions in (("window", 2), ("flat", 5)):
        arguments, knobs = METHODS[method]
        expected, _ = one_machine(collections, "pairs", "a.jsonl", "--against", "b.jsonl", "--method", method,
                                  "--threshold", 0.7, "--seed", 3, *arguments)
        report = {}
        found = cognate.spark.pairs(*frames, measure="cosine", threshold=0.7, method=method, knobs=knobs, seed=3,
                                    partitions=partitions, block_rows=100, recall_rows=0, report=report).collect()
        assert len(expected) > 80
        same(found, expected)
        assert method == "window" or report["heavy_keys"] == 1  # brute force: all rows under one key, in blocks


def test_ids_that_repeat_are_refused(spark):
    double = spark.createDataFrame([("x", "one text"), ("y", "a third"), ("x", "another text")], "id string, text string")
    with pytest.raises(ValueError, match="'x' is that of 2 documents"):
        cognate.spark.pairs(double, measure="cosine")


def test_a_measure_has_its_own_options(spark):
    frame = spark.createDataFrame([("x", "one text")], "id string, text string")
    with pytest.raises(TypeError, match="'knobs' is no option of this job with measure jaccard"):
        cognate.spark.pairs(frame, knobs={"tables": 3})
    with pytest.raises(TypeError, match="pairs_at_once"):
        cognate.spark.pairs(frame, measure="cosine", pairs_at_once=3)
    with pytest.raises(ValueError, match="joined exactly"):
        cognate.spark.pairs(frame, method="lsh")
    with pytest.raises(ValueError, match="choose window"):
        cognate.spark.pairs(frame, measure="cosine", method="exact")
    with pytest.raises(ValueError, match="'cosinus'"):
        cognate.spark.pairs(frame, measure="cosinus")
