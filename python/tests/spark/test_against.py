"""Decontamination on the cluster: what stands in a reference collection goes, as `cognate dedup --against` decides."""
import json
import os
import subprocess

import numpy as np
import pyarrow as pa
import pytest

import cognate
import cognate.spark
from cognate import batch
from cognate.spark import _against, _program
from cognate.spark._arrow import packed
from test_dedup import make_texts

PROGRAM = os.path.join(os.path.dirname(cognate.__file__), "cognate-program")


def two_collections(count=300):
    """Documents, some of which are copies of reference documents, equal ones, and parts of them."""
    rng = np.random.default_rng(8)
    texts = [text for text in make_texts(count) if text is not None]
    own, reference = texts[:len(texts) // 2], texts[len(texts) // 2:]
    own += [reference[i] for i in rng.integers(0, len(reference), 12)]
    own += [" ".join(reference[i].split()[:25]) for i in rng.integers(0, len(reference), 12)]
    return own, reference + [" ".join(text.split()[:30]) for text in own[:8]]


def expected(own, reference, **options):
    """What goes: row, row of the reference collection, similarity."""
    return [(int(row), int(kept), float(similarity)) for row, kept, similarity in
            cognate.dedup(own, against=reference, **options).pairs.rows()]


CASES = [{"threshold": 0.8}, {"threshold": 0.5}, {"threshold": 0.6, "measure": "containment"}]


@pytest.mark.parametrize("options", CASES)
def test_one_task(options):
    own, reference = two_collections()
    rows = []
    for side, texts in enumerate((reference, own)):
        sets = batch.term_sets(texts, measure=options.get("measure", "jaccard")).to_arrow()
        rows.append(pa.table({"side": np.full(len(texts), side, np.int32), "doc": sets["row"], "id": sets["row"],
                              "ord": sets["row"], "kept": sets["row"], "fingerprint": sets["fingerprint"].cast(pa.binary()),
                              "terms": packed(sets["terms"]), "words": packed(sets["words"])}))
    table = pa.concat_tables(_against._decide(iter(pa.concat_tables(rows).to_batches()), options["threshold"],
                                              options.get("measure", "jaccard")))
    gone = table.filter(pa.compute.is_null(table["counts"]))
    wanted = expected(own, reference, **options)
    assert len(wanted) > 20 and len({kept for _, kept, _ in wanted}) > 10
    assert list(zip(*(gone[name].to_pylist() for name in ("id", "kept", "similarity")), strict=True)) == wanted
    firsts = list(dict.fromkeys(kept for _, kept, _ in wanted))
    assert gone["cluster"].to_pylist() == [firsts.index(kept) for _, kept, _ in wanted]
    assert table["counts"].to_pylist()[-1][-1] == len(wanted)


@pytest.mark.parametrize("options, how", [
    (CASES[0], {}),
    (CASES[1], {"members_at_once": 0, "pairs_at_once": 0}),
    pytest.param(CASES[2], {"members_at_once": 0}, marks=pytest.mark.long),
    pytest.param(CASES[2], {"members_at_once": 0, "pairs_at_once": 0}, marks=pytest.mark.long)])
def test_clusters(spark, options, how):
    own, reference = two_collections()
    frames = [spark.createDataFrame([(f"{i:04d}", text) for i, text in enumerate(texts)], "id string, text string")
              for texts in (own, reference)]
    report = {}
    table = cognate.spark.clusters(frames[0].repartition(3), against=frames[1].repartition(2), report=report, **options,
                                   **how)
    wanted = expected(own, reference, **options)
    firsts = list(dict.fromkeys(kept for _, kept, _ in wanted))
    assert sorted(map(tuple, table.collect())) == sorted(
        (firsts.index(kept), f"{row:04d}", f"{kept:04d}", similarity, False) for row, kept, similarity in wanted)
    assert report["removed"] == len(wanted) and report["kept"] == len(own) - len(wanted)
    assert report["documents"] == len(own) and report["reference_documents"] == len(reference)
    if how.get("pairs_at_once") == 0:
        assert report["rounds"] > 1


@pytest.mark.parametrize("how", [{}, {"members_at_once": 0}])
def test_an_index(spark, monkeypatch, how):
    """Of two segments, with removed documents, read in many parts; its ids are strings, those of the input numbers."""
    own, reference = two_collections()
    monkeypatch.setattr(_against, "_MEMBERS_AT_A_TIME", 1000)
    monkeypatch.setattr(_against, "_FIRST_DOCUMENTS", 40)
    index = cognate.Index.build(reference[:100], measure="jaccard")
    index.add(reference[100:])
    assert index.remove(["3", "100", "120"]) == 3
    left = [i for i in range(len(reference)) if i not in (3, 100, 120)]
    frame = spark.createDataFrame(list(enumerate(own)), "id long, text string").repartition(3)
    report = {}
    table = cognate.spark.clusters(frame, against=index, threshold=0.6, report=report, **how)
    wanted = expected(own, index, threshold=0.6)
    firsts = list(dict.fromkeys(kept for _, kept, _ in wanted))
    assert sorted(map(tuple, table.collect())) == sorted(
        (firsts.index(kept), row, str(left[kept]), similarity, False) for row, kept, similarity in wanted)
    assert len(wanted) > 20 and report["reference_documents"] == len(left)
    assert sum(stage["stage"].startswith("sets-of-index") for stage in report["stages"]) > 3


def test_wrong_indexes_are_refused(spark):
    frame = spark.createDataFrame([(1, "one text of some words")], "id long, text string")
    for index in (cognate.Index.build(["one text"]), cognate.Index.build(["one text"], measure="jaccard", ngram=5)):
        with pytest.raises(ValueError, match="another measure|made differently"):
            cognate.spark.dedup(frame, against=index)


def test_ids_that_repeat_are_refused(spark):
    frame = spark.createDataFrame([(1, "one text of some words"), (2, "two"), (2, "three")], "id long, text string")
    for frames in ((frame, frame.limit(1)), (frame.limit(1), frame)):
        with pytest.raises(ValueError, match="the id 2 is that of 2 documents"):
            cognate.spark.dedup(frames[0], against=frames[1])


def test_dedup_against_nothing_keeps_everything(spark):
    frame = spark.createDataFrame([(1, "one text of some words", "x"), (2, "one text of some words", "y")],
                                  "id long, text string, more string")
    for how in ({}, {"members_at_once": 0}):
        kept = cognate.spark.dedup(frame, against=frame.filter("id > 2"), **how)
        assert sorted(map(tuple, kept.collect())) == sorted(map(tuple, frame.collect()))


@pytest.mark.parametrize("kind", ["jsonl", "index"])
def test_program(spark, tmp_path, capsys, kind):
    own, reference = two_collections(150)
    for name, texts in (("in", own), ("ref", reference)):
        (tmp_path / f"{name}.jsonl").write_text("".join(
            json.dumps({"id": f"{name}{i}", "text": text} if i % 4 else {"text": text}) + "\n"
            for i, text in enumerate(texts)))
    subprocess.run([PROGRAM, "index", "build", tmp_path / "ref.index", tmp_path / "ref.jsonl", "--measure",
                    "containment", "--quiet"], check=True)
    def arguments(kept, clusters, removed):
        options = ["--threshold", 0.6, "--measure", "containment", "--quiet", "-o", tmp_path / kept, "--clusters",
                   tmp_path / clusters, "--removed", tmp_path / removed]
        return list(map(str, ["dedup", tmp_path / "in.jsonl", "--against", tmp_path / f"ref.{kind}", *options]))
    assert _program.main(arguments("out", "c.tsv", "r.tsv")) == 0
    subprocess.run([PROGRAM, *arguments("kept.jsonl", "c1.tsv", "r1.tsv")], check=True)
    assert b"".join(path.read_bytes() for path in sorted((tmp_path / "out").glob("part-*"))) == (
        tmp_path / "kept.jsonl").read_bytes()
    for mine, theirs in (("c.tsv", "c1.tsv"), ("r.tsv", "r1.tsv")):
        assert (tmp_path / mine).read_bytes() == (tmp_path / theirs).read_bytes()
    assert _program.main([*arguments("more", "c2.tsv", "r2.tsv"), "--against", str(tmp_path / "ref.jsonl"),
                          str(tmp_path / "ref.index")]) == 2
    assert "an index stands alone" in capsys.readouterr().err
