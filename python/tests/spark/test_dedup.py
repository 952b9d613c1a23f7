"""Deduplication and pairs on the cluster are those of one machine, document for document."""
import os
import random
import signal
import threading
import time

import pytest

import cognate
import cognate.spark


def make_texts(count, seed=5):
    """Texts of which a third are edits of earlier ones, a family of near-copies, short texts, and empty ones."""
    rng = random.Random(seed)
    words = ["".join(rng.choice("bcdfglmnprst") + rng.choice("aeiou") for _ in range(3)) for _ in range(2000)]
    texts = []
    for i in range(count):
        if i % 3 == 2:
            text = rng.choice(texts).split()
            for _ in range(rng.randrange(4)):
                text[rng.randrange(len(text))] = rng.choice(words)
        else:
            text = rng.choices(words, k=rng.randrange(20, 80))
        texts.append(" ".join(text))
    family = rng.choices(words, k=100)
    for _ in range(count // 10):
        member = list(family)
        member[rng.randrange(100)] = rng.choice(words)
        texts.append(" ".join(member[:rng.randrange(95, 101)]))
    texts += ["", "", "!!", "!!", "two words", "Two words", None, "a b c", "a b d", "short one here", "short one now"] * 2
    rng.shuffle(texts)
    return texts


@pytest.fixture(scope="module")
def texts():
    return make_texts(500)


@pytest.fixture(scope="module")
def frame(spark, texts):
    return spark.createDataFrame(list(enumerate(texts)), "id long, text string")


def one_machine(texts, **options):
    found = cognate.dedup(texts, **options)
    return found, sorted((int(c), int(r), int(p), float(s), bool(k)) for c, r, p, s, k in found.clusters.rows())


MANY_TASKS = {"members_at_once": 0}


@pytest.mark.parametrize("partitions, options, how", [
    (1, {"threshold": 0.8}, {}),
    (7, {"threshold": 0.5, "measure": "containment", "keep": "last"}, {}),
    (3, {"threshold": 0.6, "grouping": "connected", "keep": "first"}, {}),
    (7, {"threshold": 0.5}, {"block_rows": 8, **MANY_TASKS}),
    pytest.param(3, {"threshold": 0.6, "keep": "first"}, {"pairs_at_once": 0, **MANY_TASKS}, marks=pytest.mark.long),
    pytest.param(3, {"threshold": 0.6, "keep": "first"}, {"pairs_at_once": 0, "block_rows": 4, **MANY_TASKS},
                 marks=pytest.mark.long),
    pytest.param(3, {"threshold": 0.5, "measure": "containment", "keep": "last"}, MANY_TASKS, marks=pytest.mark.long),
    pytest.param(2, {"threshold": 0.6, "grouping": "connected"}, MANY_TASKS, marks=pytest.mark.long),
    pytest.param(3, {"threshold": 0.6, "keep": "first"}, {"documents_at_once": 0, **MANY_TASKS}, marks=pytest.mark.long),
])
def test_clusters(frame, texts, partitions, options, how):
    report = {}
    table = cognate.spark.clusters(frame.repartition(partitions), report=report, **options, **how)
    found, expected = one_machine(texts, **options)
    assert sorted(map(tuple, table.collect())) == expected
    assert report["kept"] == len(found.kept) and report["removed"] == len(found.pairs)
    assert report["documents"] == len(found.kept) + len(found.pairs)
    assert len(report["stages"]) == 2 or "members_at_once" in how
    if "block_rows" in how:
        assert report["heavy_keys"] > 0 and report["heaviest_key"]["rows"] > 8
    if "pairs_at_once" in how:  # the family of 50 is not compared pair by pair
        assert report["rounds"] > 1 and report["pairs"] < len(found.pairs) + 49 * 48 / 4


def test_dedup_keeps_all_columns(spark, texts):
    """Ids that sort differently: among equal weights the order is that of the column."""
    rows = [(f"{(i * 7919) % 10007}", text, i, -(i // 50)) for i, text in enumerate(texts)]
    frame = spark.createDataFrame(rows, "name string, body string, number long, weight long").repartition(4)
    kept = cognate.spark.dedup(frame, "body", "name", threshold=0.7, keep="field:weight", order="number")
    assert kept.columns == frame.columns
    expected = cognate.dedup(texts, threshold=0.7, keep="first").kept.tolist()
    assert sorted(row["number"] for row in kept.collect()) == expected


@pytest.mark.parametrize("measure, how", [("jaccard", {"block_rows": 20, **MANY_TASKS}), ("jaccard", {}),
                                          ("containment", {})])
def test_pairs(frame, texts, measure, how):
    table = cognate.spark.pairs(frame.repartition(3), threshold=0.5, measure=measure, **how)
    expected = cognate.pairs(texts, threshold=0.5, measure=measure)
    found = {(row["a"], row["b"]): row["similarity"] for row in table.collect()}
    assert sorted(found) == sorted(zip(expected["a"].tolist(), expected["b"].tolist(), strict=True))
    for a, b, similarity, _ in expected.rows():
        assert found[a, b] == pytest.approx(similarity, abs=1e-6)


@pytest.mark.parametrize("how", [{}, MANY_TASKS])
def test_pairs_between_two(frame, texts, how):
    table = cognate.spark.pairs(frame.filter("id < 200"), frame.filter("id >= 200"), threshold=0.5, **how)
    expected = cognate.pairs(texts[:200], texts[200:], threshold=0.5, measure="jaccard")
    assert sorted((row["a"], row["b"] - 200) for row in table.collect()) == sorted(
        zip(expected["a"].tolist(), expected["b"].tolist(), strict=True))


def test_a_killed_executor_changes_nothing(spark, cluster, texts):
    """An executor dies while the job runs; Spark starts another one, and the answer is the same."""
    frame = spark.createDataFrame(list(enumerate(texts)), "id long, text string").repartition(12)
    victims = cluster.executors(0)
    assert victims
    killed = threading.Event()

    def kill():
        time.sleep(4)
        os.kill(victims[0], signal.SIGKILL)
        killed.set()

    thread = threading.Thread(target=kill)
    thread.start()
    table = cognate.spark.clusters(frame, threshold=0.7, **MANY_TASKS)
    rows = sorted(map(tuple, table.collect()))
    thread.join()
    assert killed.is_set() and rows == one_machine(texts, threshold=0.7)[1]
    assert victims[0] not in cluster.executors(0)


def test_a_job_goes_on(spark, texts, tmp_path):
    path = str(tmp_path / "in.parquet")
    spark.createDataFrame(list(enumerate(texts)), "id long, text string").write.parquet(path)
    first, second = {}, {}
    options = {"threshold": 0.7, "work": str(tmp_path / "work"), **MANY_TASKS}
    cognate.spark.clusters(spark.read.parquet(path), report=first, **options)
    table = cognate.spark.clusters(spark.read.parquet(path), report=second, **options)
    assert not any(stage["resumed"] for stage in first["stages"]) and first["shuffled_bytes"] > 0
    assert all(stage["resumed"] for stage in second["stages"]) and second["shuffled_bytes"] == 0
    assert sorted(map(tuple, table.collect())) == one_machine(texts, threshold=0.7)[1]


def test_what_is_wrong_is_named(spark, frame):
    with pytest.raises(ValueError, match="there are id, text"):
        cognate.spark.dedup(frame, "body")
    with pytest.raises(ValueError, match="threshold"):
        cognate.spark.dedup(frame, threshold=0)
    with pytest.raises(ValueError, match="keep"):
        cognate.spark.dedup(frame, keep="best")
    with pytest.raises(TypeError, match="treshold"):
        cognate.spark.dedup(frame, treshold=0.5)
    double = spark.createDataFrame([("x", "one text"), ("x", "another text")], "id string, text string")
    for how in ({}, MANY_TASKS):
        with pytest.raises(ValueError, match="'x' is that of 2 documents"):
            cognate.spark.dedup(double, **how)
    with pytest.raises(ValueError, match="'x' is that of 2 documents"):
        cognate.spark.pairs(double)


@pytest.mark.long
def test_a_family_that_is_too_large_for_one_task(spark):
    """More pairs share keys than one task takes: many tasks, and the same answer."""
    family = [f"storms closed the mountain road on monday and it stays closed until spring number {i % 40}"
              for i in range(3000)]
    frame = spark.createDataFrame(list(enumerate(family)), "id long, text string")
    report = {}
    table = cognate.spark.pairs(frame.filter("id < 40"), frame, threshold=0.5, report=report)
    assert len(report["stages"]) > 3 and report["pairs"] == table.count() == 40 * 3000
