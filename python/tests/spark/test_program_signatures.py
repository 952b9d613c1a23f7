"""The command line over files: the tables of one machine. Jobs run in the session of the other tests."""
import json
import random

import pytest

from cognate.spark import _log, _program
from test_related import LSH, write_log
from test_signatures import METHODS, one_machine, write_documents


@pytest.fixture
def command(spark, cluster, archive, tmp_path):
    """The result lines and the statistics of a command that is run in the folder."""
    def run(*arguments):
        results = [tmp_path / name for name in ("found.tsv", "found.json")]
        options = ["-o", results[0], "--stats", results[1], "--master", cluster.url, "--archive", archive, "--quiet"]
        assert _program.main([str(argument) for argument in [*arguments, *options]]) == 0
        lines = results[0].read_text().splitlines()
        assert lines[0] == "a\tb\tsimilarity\tdistance"
        return [line.split("\t") for line in lines[1:]], json.loads(results[1].read_text())
    return run


def same(found, expected):
    """The same pairs in the same order."""
    assert [(a, b) for a, b, _, _ in found] == [*expected]
    for (_, _, similarity, distance), (measured, bits) in zip(found, expected.values(), strict=True):
        assert float(similarity) == pytest.approx(measured, abs=2e-6) and (-1 if distance == "-" else int(distance)) == bits


def test_pairs_by_cosine(command, tmp_path):
    for number, name in enumerate(("a.jsonl", "b.jsonl")):
        write_documents(tmp_path / name, 200, number)
    arguments = ["--threshold", 0.7, "--seed", 4, "--method", "lsh", *METHODS["lsh"][0]]
    expected, _ = one_machine(tmp_path, "pairs", "a.jsonl", "--against", "b.jsonl", *arguments)
    found, stats = command("pairs", tmp_path / "a.jsonl", "--against", tmp_path / "b.jsonl", "--measure", "cosine",
                           "--recall-rows", 0, *arguments)
    assert len(found) > 50 and stats["tables"] == 6 and "measured_recall" not in stats
    same(found, expected)


def test_related_to_given_queries(command, tmp_path):
    """The log is in no order: queries come in that of their first rows, those without a click too."""
    write_log(tmp_path / "log.tsv")
    lines = (tmp_path / "log.tsv").read_text().splitlines()
    lines += [f"query {number:04d}\t\t0" for number in range(0, 600, 5)] + ["query 0003\thttp://own3.org/\t0.5"]
    random.Random(8).shuffle(lines)
    (tmp_path / "log.tsv").write_text("".join(line + "\n" for line in ["query\turl\tclicks", *lines, "not a row"]))
    (tmp_path / "mine.txt").write_text("".join(f"query {number:04d}\n" for number in range(0, 600, 7)) + "nowhere\n")
    arguments = ["--threshold", 0.6, "--seed", 5, *LSH]
    expected, _ = one_machine(tmp_path, "related", "log.tsv", "--queries", "mine.txt", *arguments)
    found, stats = command("related", tmp_path / "log.tsv", "--queries", tmp_path / "mine.txt", "--recall-rows", 0,
                           *arguments)
    assert len(found) > 50 and stats["unknown_queries"] >= 1 and stats["bad_rows"] == 1
    same(found, expected)


def test_columns_of_a_log(spark):
    """The columns of AOL's logs; rows without a click, a header in the middle, and bad ones."""
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL", "7\tflights\t2006-03-01 07:17:12\t1\thttp://a.org",
             "7\tflights\t2006-03-01 07:18:00", "AnonID\tQuery\tQueryTime\tItemRank\tClickURL", "8\t\t2006-03-01 07:18:00",
             "two\tcolumns", ""]
    rows, bad = _log.read(spark.createDataFrame(list(enumerate(lines)), "_row long, value string"))
    assert [tuple(row) for row in rows.orderBy("_row").collect()] == [(1, "flights", "http://a.org", 1), (2, "flights", "", 1)]
    assert bad == 2


def test_queries_of_a_file(tmp_path):
    (tmp_path / "queries.txt").write_bytes(b"plain\r\n\ntab\\there\nback\\\\tslash\nlast")
    assert _log.read_queries(str(tmp_path / "queries.txt")) == ["plain", "tab\there", "back\\tslash", "last"]


@pytest.mark.parametrize("arguments, message", [
    (["pairs", "--tables", "3"], "method exact has no --tables"),
    (["pairs", "--method", "flat"], "joined exactly"),
    (["pairs", "--measure", "cosine", "--method", "lsh", "--window", "30"], "method lsh has no --window"),
    (["pairs", "--measure", "cosine", "--method", "exact"], "choose window"),
    (["related", "--method", "flat", "--flips", "2"], "method flat has no --flips"),
    (["related", "--queries", "no-such-file"], "no-such-file"),
])
def test_wrong_options_are_refused_before_a_session(arguments, message, capsys):
    assert _program.main([arguments[0], "in.jsonl", "--master", "spark://no.such.host:1", *arguments[1:]]) == 2
    assert message in capsys.readouterr().err
