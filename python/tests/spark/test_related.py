"""Related queries: those of the command line."""
import random

from cognate.spark.related import grouped, related
from test_signatures import one_machine, same

LSH = ["--method", "lsh", "--key-bits", 16, "--tables", 10, "--flips", 2, "--flip-mode", "distance"]


def write_log(path):
    """Families of queries over the same URLs, sorted by query: their rows are then those of the cluster."""
    draw = random.Random(3)
    lines = []
    for query in range(600):
        family = query // 6
        for url in range(draw.randint(4, 9)):
            lines.append((f"query {query:04d}", f"http://site{family * 8 + url}.org/", draw.randint(1, 9)))
        lines.append((f"query {query:04d}", f"http://own{query}.org/", 1))
    path.write_text("".join(f"{query}\t{url}\t{clicks}\n" for query, url, clicks in lines))


def test_related_queries_of_one_machine(spark, tmp_path):
    """All of them; test_program_signatures.py has the neighbours of given ones."""
    write_log(tmp_path / "log.tsv")
    log = spark.read.csv(str(tmp_path / "log.tsv"), sep="\t", schema="query string, url string, clicks long").repartition(3)
    expected, stats = one_machine(tmp_path, "related", "log.tsv", "--threshold", 0.6, "--seed", 5, *LSH)
    report = {}
    same(related(log, threshold=0.6, seed=5, partitions=3, report=report).collect(), expected)
    assert len(expected) > 200 and report["queries"] == stats["queries"]
    assert report["measured_recall_low"] - 0.02 <= stats["measured_recall"] <= report["measured_recall_high"] + 0.02


def test_tabs_and_line_ends_in_urls_are_spaces(spark):
    """Where they would end a field or a line."""
    log = spark.createDataFrame([("one query", f"http://site{i}.org/a\tb\nc\r", 2) for i in range(2)],
                                "query string, url string, clicks long")
    assert grouped(log, "query", "url", "clicks", 2, None).head()["clicks"].split("\n") == [
        f"http://site{i}.org/a b c \t2" for i in range(2)]
