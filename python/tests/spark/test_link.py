"""Links between two languages: those of one machine, for every number of partitions and blocks."""
import json
import random
import subprocess
import sys

import pytest

import cognate
import cognate.spark
from cognate.spark import _program
from conftest import QUICK

PROGRAM = cognate.__path__[0] + "/cognate-program"
NOUNS = {"Haus": "house", "Buch": "book", "Hund": "dog", "Garten": "garden", "Straße": "street", "Wasser": "water",
         "Berg": "mountain", "Wald": "forest", "Schiff": "ship", "Vogel": "bird", "Lampe": "lamp", "Brot": "bread"}
VERBS = {"sieht": "sees", "sucht": "seeks", "findet": "finds", "kauft": "buys"}


def write_side(path, texts, lang):
    """JSON lines, with records that are no documents among them."""
    with open(path, "w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            file.write(json.dumps({"id": f"{lang}-{number}", "text": text, "lang": lang}) + "\n")
            if number % 40 == 3:
                file.write("{}\n")


def sentences_of(words):
    """Sentences of four words, and one that all documents have."""
    return " ".join(" ".join(words[at:at + 4]) + "." for at in range(0, len(words), 4)) + "\nEnde."


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    """Translations in another order, with compounds and words that no lexicon knows; some have no partner or no words."""
    folder = tmp_path_factory.mktemp("languages")
    pairs = [(f"der {a} {v} das {b}", f"the {NOUNS[a]} {VERBS[v]} the {NOUNS[b]}")
             for a in NOUNS for b in NOUNS for v in VERBS if a != b]
    cognate.Lexicon.train(pairs, "de", "en").save(folder / "de-en.lex")
    draw = random.Random(4)
    words, names = list(NOUNS), [f"Qu{draw.randrange(10**6)}" for _ in range(200)]
    german, english = [], []
    for number in range(400):
        text = [draw.choice(words) for _ in range(draw.randint(4, 20))]
        own = draw.sample(names, 3) if number % 3 else []
        german.append(sentences_of([*text, *own, text[0] + text[-1].lower()]) if number % 50 else "")
        if number % 7:
            english.append(sentences_of([*(NOUNS[word] for word in text), *own, NOUNS[text[0]], NOUNS[text[-1]]]))
    draw.shuffle(english)
    write_side(folder / "de.jsonl", german, "de")
    write_side(folder / "en.jsonl", english, "en")
    return folder


def one_machine(folder, *arguments):
    """The lines of the program's result, and its statistics."""
    done = subprocess.run([PROGRAM, "link", "--from", "de.jsonl", "--to", "en.jsonl", "--lexicon", "de-en.lex", "--quiet",
                           "--stats", "stats.json", *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), json.loads((folder / "stats.json").read_text())


def rows_of(lines):
    return sorted(tuple(line.split("\t")) for line in lines[1:])


REPORTED = ("from_documents", "to_documents", "known_terms", "split_terms", "unknown_terms", "short_documents", "links",
            "wanted_precision", "expected_precision", "expected_recall_low")


@pytest.mark.parametrize("arguments, options", [
    (["--method", "exact"], {"block_rows": 90, "partitions": 3}),
    (["--method", "window", "--tables", 12, "--window", 40, "--one-to-one"],
     {"method": "window", "knobs": {"tables": 12, "window": 40}, "one_to_one": True, "partitions": 4}),
    (["--method", "lists"], {"method": "lists", "block_rows": 90, "partitions": 3}),
    pytest.param(["--method", "flat", "--one-to-one", "--precision", 0.9],
                 {"method": "flat", "one_to_one": True, "precision": 0.9, "block_rows": 150, "partitions": 5},
                 marks=pytest.mark.long)])
def test_links_of_one_machine(spark, collections, arguments, options):
    expected, stats = one_machine(collections, *arguments)
    report = {}
    found = cognate.spark.link(*read_sides(spark, collections), lexicon=str(collections / "de-en.lex"), order="place", report=report, **options)
    rows = sorted((row["from"], row["to"], *(f"{row[name]:.6f}" for name in ("similarity", "score", "probability")))
                  for row in found.collect())
    assert len(rows) > 200 and rows == rows_of(expected)
    for name in REPORTED:
        assert report[name] == pytest.approx(stats[name], rel=1e-12), name
    assert report["shuffled_bytes"] > 0
    if options.get("method") == "lists":
        assert report["list_products"] == stats["list_products"] and report["candidates"] > 1000 and report["cells"] == 5
    elif options.get("method") == "window":
        assert 0 < report["comparisons"] < 400 * 340 * 12 and report["candidates"] > 1000
    else:
        assert report["cells"] > 4


def read_sides(spark, folder):
    frames = [spark.read.json(str(folder / name)).dropna(subset=["text"]).withColumnRenamed("id", "name").repartition(3)
              for name in ("de.jsonl", "en.jsonl")]
    return [frame.selectExpr("name as id", "text", "lang", "cast(split(name, '-')[1] as int) as place")
            for frame in frames]


def test_sentence_pairs_of_one_machine(spark, collections):
    expected, stats = one_machine(collections, "--method", "exact", "-k", 2, "--sentences", "--sentence-threshold", 0.6)
    report = {}
    found = cognate.spark.link(*read_sides(spark, collections), lexicon=str(collections / "de-en.lex"), order="place",
                               report=report, k=2, sentences=True, sentence_threshold=0.6, partitions=3)
    assert found.columns == expected[0].split("\t")
    rows = sorted((row["from"], row["to"], f"{row['similarity']:.6f}", row["from_id"], row["to_id"], f"{row['score']:.6f}")
                  for row in found.collect())
    assert rows == rows_of(expected) and len(rows) > 500
    for name in ("from_sentences", "to_sentences", "compared_sentences", "sentence_pairs", "repeated_sentence_pairs"):
        assert report[name] == stats[name] > 0, name


def test_the_command_line(spark, cluster, archive, collections, tmp_path):
    expected, _ = one_machine(collections, "--method", "flat", "-k", 3)
    arguments = ["link", "--from", collections / "de.jsonl", "--to", collections / "en.jsonl", "--lexicon",
                 collections / "de-en.lex", "--method", "flat", "-k", 3, "-o", tmp_path / "links.tsv", "--stats",
                 tmp_path / "stats.json", "--master", cluster.url, "--archive", archive, "--quiet"]
    assert _program.main([str(argument) for argument in arguments]) == 0
    assert (tmp_path / "links.tsv").read_text().splitlines() == expected and len(expected) > 1000
    assert json.loads((tmp_path / "stats.json").read_text())["cells"] == 4


def test_spark_connect(cluster, archive, collections, tmp_path):
    """In a process of its own: this one has a session of another kind."""
    pytest.importorskip("grpc_status", reason="Spark Connect needs pyspark[connect]")
    expected, stats = one_machine(collections, "--method", "lists", "--one-to-one")
    address = cluster.start_connect(**{**QUICK, "spark.sql.shuffle.partitions": "2"})
    done = subprocess.run([sys.executable, "-m", "cognate._program", "spark", "link", "--from",
                           collections / "de.jsonl", "--to", collections / "en.jsonl", "--lexicon", "de-en.lex", "--method", "lists", "--one-to-one", "-o",
                           tmp_path / "links.tsv", "--stats", tmp_path / "stats.json", "--master", address, "--archive",
                           archive], cwd=collections, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert (tmp_path / "links.tsv").read_text().splitlines() == expected and len(expected) > 200
    assert json.loads((tmp_path / "stats.json").read_text())["list_products"] == stats["list_products"]


def test_sentences_on_the_command_line(spark, cluster, archive, collections, tmp_path):
    one_machine(collections, "--method", "exact", "--one-to-one", "--sentences", "-o", "pairs.tmx")
    arguments = ["link", "--from", collections / "de.jsonl", "--to", collections / "en.jsonl", "--lexicon",
                 collections / "de-en.lex", "--one-to-one", "--sentences", "-o", tmp_path / "pairs.tmx", "--master",
                 cluster.url, "--archive", archive, "--quiet"]
    assert _program.main([str(argument) for argument in arguments]) == 0
    assert (tmp_path / "pairs.tmx").read_bytes() == (collections / "pairs.tmx").read_bytes()
    assert (tmp_path / "pairs.tmx").read_text().count("<tu>") > 300


@pytest.mark.long
def test_posting_lists_in_several_blocks(spark, tmp_path):
    """More target documents than a block of posting lists holds: 8 million weighted terms."""
    draw, documents, vocabulary = random.Random(7), 24_000, 40_000
    cognate.Lexicon.train([(f"wa{number}", f"xe{number}") for number in range(vocabulary)] * 2, "de", "en").save(
        tmp_path / "de-en.lex")
    sides = [], []
    for number in range(documents):
        words = draw.sample(range(vocabulary), 380)
        sides[1].append(words)
        if number % 8 == 0:
            sides[0].append([*draw.sample(words, 60), *draw.sample(range(vocabulary), 60)])
    for texts, letters, lang in zip(sides, ("wa", "xe"), ("de", "en"), strict=True):
        write_side(tmp_path / f"{lang}.jsonl", [" ".join(f"{letters}{word}" for word in words) for words in texts], lang)
    expected, stats = one_machine(tmp_path, "--method", "lists", "-k", 3)
    report = {}
    found = cognate.spark.link(*read_sides(spark, tmp_path), lexicon=str(tmp_path / "de-en.lex"), order="place",
                               method="lists", k=3, partitions=4, report=report)
    rows = sorted((row["from"], row["to"], *(f"{row[name]:.6f}" for name in ("similarity", "score", "probability")))
                  for row in found.collect())
    assert rows == rows_of(expected) and len(rows) > documents / 8
    assert report["cells"] == 2 and report["list_products"] == stats["list_products"]
    assert next(stage["rows"] for stage in report["stages"] if stage["stage"] == "link-blocks") == 2


@pytest.mark.long
def test_exchanged_sides_are_refused(spark, collections):
    frames = [spark.read.json(str(collections / name)) for name in ("en.jsonl", "de.jsonl")]
    with pytest.raises(ValueError, match="swap the sides"):
        cognate.spark.link(*frames, lexicon=cognate.Lexicon.open(collections / "de-en.lex"))


def test_wrong_options_are_refused(spark, collections, capsys):
    frame = spark.createDataFrame([("x", "one text")], "id string, text string")
    lexicon = str(collections / "de-en.lex")
    with pytest.raises(TypeError, match="'tokens' is no option"):
        cognate.spark.link(frame, frame, lexicon=lexicon, tokens="chars")
    with pytest.raises(ValueError, match="methods exact, lists, flat, window"):
        cognate.spark.link(frame, frame, lexicon=lexicon, method="lsh")
    with pytest.raises(ValueError, match="one rule"):
        cognate.spark.link(frame, frame, lexicon=lexicon, threshold=0.3, precision=0.9)
    with pytest.raises(ValueError, match="sentence_threshold belongs to"):
        cognate.spark.link(frame, frame, lexicon=lexicon, sentence_threshold=0.4)
    with pytest.raises(ValueError, match="sentence threshold of 3"):
        cognate.spark.link(frame, frame, lexicon=lexicon, sentences=True, sentence_threshold=3)
    for more, message in ((["--bits", "64"], "method exact has no --bits"),
                          (["--bits", "64", "--method", "lists"], "method lists has no --bits"), (["--format", "tmx"], "belongs to --sentences"),
                          (["-o", "links.tmx"], "TMX holds sentence pairs"), (["-k", "3", "--one-to-one"], "not one-to-one"),
                          (["--lexicon", "nowhere"], "nowhere")):
        given = ["link", "--from", "a.jsonl", "--to", "b.jsonl", "--lexicon", lexicon, "--master", "spark://no.such.host:1"]
        assert _program.main([*given, *more]) == 2
        assert message in capsys.readouterr().err
