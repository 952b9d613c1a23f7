"""The command `cognate spark`: jobs over files on a cluster, without writing Python.

A job is a function that adds its options to a parser, and one that runs it; `COMMANDS` has them all.
"""
from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _cognate, link_batch
from .._index import Index
from . import _against, _archive, _dedup, _jobs, _link, _link_sentences, _log
from ._files import Files
from ._stages import Stage, Stages, hash_of
from .related import find_related, grouped


class Command(NamedTuple):
    """A job of the command line."""
    summary: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def session_options(parser: argparse.ArgumentParser) -> None:
    """Options of every job on a cluster."""
    group = parser.add_argument_group("cluster")
    group.add_argument("--master", default="local[*]", metavar="URL",
                       help="spark://HOST:PORT, yarn, k8s://HOST:PORT, sc://HOST:PORT (Spark Connect), local[N] "
                            "(default: local[*], this machine alone)")
    group.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark")
    group.add_argument("--archive", metavar="FILE",
                       help="the archive for executors, as `cognate spark archive` writes it; none: it is made for the "
                            "job, if the master is not local")
    group.add_argument("--work", metavar="DIR",
                       help="intermediate tables, on a file system that all machines share; a job that stopped goes on "
                            "from there (default: a temporary folder of this machine)")
    group.add_argument("--stats", metavar="FILE", help="a JSON object with what was done")
    group.add_argument("--quiet", action="store_true", help="no progress")


def input_options(parser: argparse.ArgumentParser) -> None:
    """Options of jobs that read documents."""
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files or folders: Parquet, JSON lines, text")
    format_options(parser)


def format_options(parser: argparse.ArgumentParser) -> None:
    """How documents are read."""
    group = parser.add_argument_group("input")
    group.add_argument("--input-format", choices=["auto", "parquet", "jsonl", "txt"], default="auto",
                       help="default: by the extension")
    group.add_argument("--lines", action="store_true", help="txt: each line is a document (it must be given)")
    group.add_argument("--text-field", default="text", metavar="NAME")
    group.add_argument("--id-field", default="id", metavar="NAME")
    group.add_argument("--lang-field", default="lang", metavar="NAME")


def open_session(arguments: argparse.Namespace) -> Any:
    """A session on the master that the arguments name, whose executors have this package."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ImportError("jobs on Spark need pyspark: pip install 'cognate[spark]'") from None
    settings = dict(_setting(text) for text in arguments.conf)
    master = arguments.master
    if master.startswith("sc://"):
        builder = SparkSession.builder.remote(master)
    else:
        builder = SparkSession.builder.master(master).appName("cognate")
        settings.setdefault("spark.log.level", "ERROR")
        settings.setdefault("spark.executor.processTreeMetrics.enabled", "true")
        settings.setdefault("spark.ui.showConsoleProgress", "false")
    archive = arguments.archive
    if archive is None and not (master.startswith("local") and "cluster" not in master):
        folder = tempfile.mkdtemp(prefix="cognate-archive-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may start at any time during the session
        archive = _archive.archive(os.path.join(folder, "env.tar.gz"))
    if archive is not None and not master.startswith("sc://"):
        settings.setdefault("spark.archives", f"{archive}#{_archive.FOLDER}")
        os.environ["PYSPARK_PYTHON"] = _archive.PYTHON
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    elif archive is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if archive is not None and master.startswith("sc://"):
        spark.addArtifact(f"{archive}#{_archive.FOLDER}", archive=True)
        spark.conf.set("spark.sql.execution.pyspark.python", _archive.PYTHON)
    return spark


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--conf {text}: give NAME=VALUE, such as spark.executor.memory=4g")
    return name, value


def write_stats(arguments: argparse.Namespace, report: dict[str, Any]) -> None:
    """Writes the report to the file of --stats, which appears when it is complete; the target of a link (/dev/stdout)
    is written directly."""
    if not arguments.stats:
        return
    path = arguments.stats
    is_stream = os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path))
    target = path if is_stream else f"{path}.{os.getpid()}.tmp"
    with open(target, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    if not is_stream:
        os.replace(target, path)


# ---- The archive -----------------------------------------------------------------------------------------------------

def _archive_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the archive, such as env.tar.gz")
    parser.add_argument("--package", action="append", default=[], metavar="NAME", help="an installed package to add")


def _run_archive(arguments: argparse.Namespace) -> int:
    path = _archive.archive(arguments.output, arguments.package)
    print(f"{path}: {os.path.getsize(path) / 1e6:.1f} MB")
    return 0


# ---- Jobs over documents ---------------------------------------------------------------------------------------------

def _measure_options(parser: argparse.ArgumentParser, *more: str) -> None:
    parser.add_argument("--threshold", type=float, default=0.8, metavar="S", help="at or above (default: 0.8)")
    parser.add_argument("--measure", choices=["jaccard", "containment", *more], default="jaccard")
    parser.add_argument("--tokens", choices=["words", "regex", "chars", "code"])
    parser.add_argument("--ngram", type=int, metavar="N")
    parser.add_argument("--lang", metavar="L", help="the language of all documents, or auto")


def _dedup_options(parser: argparse.ArgumentParser) -> None:
    input_options(parser)
    parser.add_argument("-o", "--output", metavar="DIR", help="the records that stay, as files in a new folder")
    parser.add_argument("--against", nargs="+", metavar="IN",
                        help="remove what stands in these, or in an index of this machine (decontamination), and nothing "
                             "else")
    parser.add_argument("--clusters", metavar="FILE", help="all members of clusters, on this machine")
    parser.add_argument("--removed", metavar="FILE", help="what goes, and for whom, on this machine")
    parser.add_argument("--keep", default="longest", help="longest, first, last, field:NAME or field:NAME:min")
    parser.add_argument("--grouping", choices=["representative", "connected"], default="representative")
    _measure_options(parser)
    session_options(parser)


def _pairs_options(parser: argparse.ArgumentParser) -> None:
    input_options(parser)
    parser.add_argument("--against", nargs="+", metavar="IN", help="pairs between the inputs and these")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="on this machine (default: standard output)")
    _measure_options(parser, "cosine")
    parser.add_argument("--method", choices=["exact", "window", "lsh", "flat"],
                        help="window, lsh or flat of the cosine (default: window); jaccard and containment are exact")
    _signature_options(parser)
    session_options(parser)


def _link_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--from", dest="source", nargs="+", required=True, metavar="IN",
                        help="documents in the source language: files or folders of Parquet, JSON lines, text")
    parser.add_argument("--to", dest="target", nargs="+", required=True, metavar="IN",
                        help="documents in the target language")
    parser.add_argument("--lexicon", required=True, metavar="FILE",
                        help="translations of words, made by cognate lexicon; on this machine")
    format_options(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="on this machine (default: standard output)")
    parser.add_argument("--sentences", action="store_true", help="write sentence pairs instead of links")
    parser.add_argument("--sentence-threshold", type=float, metavar="S",
                        help="least score of a sentence pair (default: 0.5)")
    parser.add_argument("--format", choices=["tsv", "jsonl", "tmx"],
                        help="of sentence pairs (default: tmx if the name of the output ends in .tmx, otherwise tsv)")
    parser.add_argument("--one-to-one", action="store_true", help="link each document at most once")
    parser.add_argument("--precision", type=float, metavar="P", help="wanted share of right links (default: 0.98)")
    parser.add_argument("-t", "--threshold", type=float, metavar="S",
                        help="least cosine of a link (default: by --precision)")
    parser.add_argument("-k", "--neighbours", type=int, metavar="N",
                        help="list the N best of each document, likely or not")
    parser.add_argument("--method", choices=["exact", "lists", "flat", "window"], default="exact",
                        help="exact: all cosines; lists: those of documents that share telling terms; flat: of the nearest "
                             "signatures; window: of near signatures that meet in a window (default: exact)")
    parser.add_argument("--bits", type=int, metavar="N", help="flat, window: of a signature (default: 1024)")
    _window_options(parser)
    parser.add_argument("--candidates", type=int, metavar="N", help="looked at for each document (default: 30)")
    parser.add_argument("--hubs", dest="hub_neighbours", type=int, metavar="N",
                        help="neighbours in the hubness correction; 0: none (default: 10)")
    parser.add_argument("--probability", choices=["to-given-from", "from-given-to"], default="to-given-from",
                        help="which of the lexicon's probabilities projects (default: to-given-from)")
    parser.add_argument("--unknown", choices=["keep", "drop"], default="keep",
                        help="words without a translation (default: keep)")
    parser.add_argument("--linkers", metavar="LIST",
                        help="letters that may join the parts of compounds (default: s,es,n,en,e)")
    session_options(parser)


def _related_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", metavar="LOG",
                        help="files or folders of query TAB url TAB clicks, or with the columns of AOL's logs")
    parser.add_argument("--queries", metavar="FILE", help="the neighbours of these queries alone, one on each line")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="on this machine (default: standard output)")
    parser.add_argument("--threshold", type=float, default=0.7, metavar="S", help="at or above (default: 0.7)")
    parser.add_argument("--min-urls", type=int, default=6, metavar="N", help="leave out queries with fewer (default: 6)")
    parser.add_argument("--method", choices=["window", "lsh", "flat"], default="lsh",
                        help="default: lsh, with keys of 16 bits, 10 tables and Distance Flip if no settings are given")
    _signature_options(parser)
    session_options(parser)


_SIGNATURES = ("recall", "bits", "seed", "recall_rows")
#: Settings of methods, and the numbers of those that are words.
_KNOBS = {"window": ("tables", "window", "shared_window"), "lsh": ("tables", "key_bits", "flips", "flip_mode", "flip_side"),
          "flat": ()}
_FLIP_MODES, _FLIP_SIDES = {"across": 0, "distance": 1, "random": 2, "none": 3}, {"query": 0, "both": 1}


def _signature_options(parser: argparse.ArgumentParser) -> None:
    """Options of joins by signatures; None if not given."""
    group = parser.add_argument_group("signatures (settings that are not given follow from threshold and recall)")
    group.add_argument("--recall", type=float, metavar="R", help="the share of pairs to find (default: 0.95)")
    group.add_argument("--bits", type=int, metavar="N", help="of a signature (default: 1024)")
    group.add_argument("--seed", type=int, metavar="N", help="of everything random (default: 0)")
    group.add_argument("--recall-rows", type=int, metavar="N",
                       help="rows that are compared with all others to measure the recall (default: 200; 0: none)")
    _window_options(group, "; lsh: hash tables")
    group.add_argument("--key-bits", type=int, metavar="K", help="lsh: bits of a key")
    group.add_argument("--flips", type=int, metavar="F", help="lsh: extra keys per table, with flipped bits")
    group.add_argument("--flip-mode", choices=[*_FLIP_MODES], help="lsh: which bits")
    group.add_argument("--flip-side", choices=[*_FLIP_SIDES], help="lsh: of which rows")


def _window_options(parser: Any, others: str = "") -> None:
    parser.add_argument("--tables", type=int, metavar="N", help=f"window: orders of the bits{others}")
    parser.add_argument("--window", type=int, metavar="B", help="window: rows of a window")
    parser.add_argument("--shared-window", action="store_true", default=None,
                        help="window: two collections share the rows of a window")


def _signature_settings(arguments: argparse.Namespace, method: str) -> dict[str, Any]:
    """The given options of signatures; the method exact has none."""
    knobs = _KNOBS.get(method, ())
    names = {*_SIGNATURES, *(name for own in _KNOBS.values() for name in own)}
    given = {name: value for name in sorted(names) if (value := getattr(arguments, name)) is not None}
    for name in given:
        if name not in knobs and (method == "exact" or name not in _SIGNATURES):
            raise ValueError(f"method {method} has no --{name.replace('_', '-')}: leave it out")
    numbers = {**_FLIP_MODES, **_FLIP_SIDES}
    chosen = {name: int(numbers.get(given[name], given[name])) for name in knobs if name in given}
    return {**{name: given[name] for name in _SIGNATURES if name in given}, **({"knobs": chosen} if chosen else {})}


class _Job:
    """What jobs share: the session, the stages, the files."""

    def __init__(self, arguments: argparse.Namespace):
        loaded = sys.modules.get("pyspark.sql")
        #: The session is that of a program which called `main`.
        self.is_guest = loaded is not None and loaded.SparkSession.getActiveSession() is not None
        self.arguments, self.spark = arguments, open_session(arguments)
        self.stages = Stages(self.spark, arguments.work, progress=not arguments.quiet and sys.stderr.isatty())

    def terms(self) -> dict[str, Any]:
        arguments = self.arguments
        return {name: value for name, value in (("tokens", arguments.tokens), ("ngram", arguments.ngram),
                                                ("language", arguments.lang)) if value is not None}

    def rule(self) -> Any:
        return _jobs.rule(self.arguments.threshold, self.arguments.measure, self.terms())

    def files(self, paths: list[str], name: str = "records") -> Files:
        arguments = self.arguments
        fields = {"text": arguments.text_field, "id": arguments.id_field, "lang": arguments.lang_field}
        return Files(self.stages, paths, arguments.input_format, arguments.lines, fields, name)

    def end(self) -> dict[str, Any]:
        report = {**self.stages.finish(), "executors": self.stages.metrics.executors()}
        write_stats(self.arguments, report)
        self.stages.clear()
        if not self.is_guest:
            self.spark.stop()
        return report


def _write_table(path: str, header: list[str], frame: Any) -> int:
    """Writes a table as TSV; the file appears when it is complete. Returns the number of rows."""
    temporary = f"{path}.{os.getpid()}.tmp"
    count = 0
    with (open(temporary, "w", encoding="utf-8", newline="\n") if path != "-" else sys.stdout) as file:
        file.write("\t".join(header) + "\n")
        for row in frame.toLocalIterator():
            file.write("\t".join(map(_cell, row)) + "\n")
            count += 1
        file.flush()
    if path != "-":
        os.replace(temporary, path)
    return count


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6f}"
    if value is None:
        return "-"
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _named(frame: Any, columns: dict[str, tuple[Files | None, str]]) -> Any:
    """Adds to each of these columns of docs one with the names that they have in files, in the place of a column of that
    name; without files the names are there."""
    from pyspark.sql import functions as f
    for doc, (files, name) in columns.items():
        if files is None:
            continue
        names = files.names(frame.selectExpr(f"`{doc}` as doc"))
        own = frame.withColumnRenamed(doc, "_doc") if doc == name else frame.drop(name).withColumn("_doc", f.col(doc))
        frame = own.join(names.withColumnsRenamed({"doc": "_doc", "name": name}), "_doc").drop("_doc")
    return frame


def _index_of(paths: list[str] | None) -> Index | None:
    """The index that these name, which then stands alone."""
    for path in paths or ():
        if _cognate.index_exists(os.fsencode(path)):
            if len(paths or ()) > 1:
                raise ValueError(f"--against {path}: an index stands alone")
            return Index.open(path)
    return None


def _run_dedup(arguments: argparse.Namespace) -> int:
    if not (arguments.output or arguments.clusters or arguments.removed):
        raise ValueError("say what to write: -o DIR, --clusters FILE or --removed FILE")
    index = _index_of(arguments.against)
    job = _Job(arguments)
    files = job.files(arguments.inputs)
    kept_files: Files | None = files  # documents of an index are named by their ids
    documents = files.documents(_jobs.keep_field(arguments.keep))
    if arguments.against:
        kept_files = None if index is not None else job.files(arguments.against, "records-against")
        reference = index if kept_files is None else kept_files.documents()
        assert reference is not None
        gone = _against.removed(job.stages, documents, reference, job.rule())
        clusters = _against.cluster_table(gone)
    else:
        decision = _dedup.decide(job.stages, documents, job.rule(), arguments.keep, arguments.grouping)
        gone = _dedup.removed(job.stages, decision, arguments.threshold)
        job.stages.note(removed=gone.rows, kept=job.stages.report["documents"] - gone.rows)
        clusters = _dedup.cluster_table(job.stages, decision, gone) if arguments.clusters else None
    if arguments.removed:
        rows = _named(gone.table.drop("id"), {"doc": (files, "id"), "kept_doc": (kept_files, "kept")}).orderBy("doc")
        _write_table(arguments.removed, ["id", "kept", "similarity", "reason"],
                     rows.select("id", "kept", "similarity", "reason"))
    if arguments.clusters:
        names = {"doc": (files, "id"), "representative": (kept_files, "representative")}
        _write_table(arguments.clusters, ["cluster", "id", "representative", "similarity", "kept"],
                     _named(clusters.drop("id"), names).orderBy("cluster", "doc").select(
                         "cluster", "id", "representative", "similarity", "kept"))
    if arguments.output:
        files.write(documents, gone.table, arguments.output)
    report = job.end()
    if not arguments.quiet:
        print(f"cognate: {report['documents']} documents, {report['kept']} kept, {report['removed']} removed",
              file=sys.stderr)
    return 0


def _run_pairs(arguments: argparse.Namespace) -> int:
    _jobs.check_method(arguments.measure, arguments.method)
    method = "exact" if arguments.measure != "cosine" else arguments.method or "window"
    settings = _signature_settings(arguments, method)
    job = _Job(arguments)
    sides = [job.files(arguments.inputs)]
    if arguments.against:
        sides.append(job.files(arguments.against, "records-against"))
    documents = [files.documents() for files in sides]
    if arguments.measure == "cosine":
        _, near = _jobs.cosine_pairs(job.stages, documents, method=method, threshold=arguments.threshold,
                                     **settings, **job.terms())
        found = near.table
    else:
        found = _jobs.find_pairs(job.stages, documents, job.rule()).selectExpr(
            "a", "b", "similarity", "cast(null as int) as distance")
    rows = _named(found, {"a": (sides[0], "a_name"), "b": (sides[-1], "b_name")}).orderBy("a", "b")
    count = _write_table(arguments.output, _PAIR_COLUMNS, rows.select("a_name", "b_name", "similarity", "distance"))
    job.end()
    return 0 if count else 1


_PAIR_COLUMNS = ["a", "b", "similarity", "distance"]


def _run_link(arguments: argparse.Namespace) -> int:
    if arguments.method in ("exact", "lists") and arguments.bits is not None:
        raise ValueError(f"method {arguments.method} has no --bits: leave it out")
    _check_result(arguments)
    own = {name: value for name in ("precision", "threshold", "bits", "candidates", "hub_neighbours", "linkers")
           if (value := getattr(arguments, name)) is not None}
    knobs = {name: int(value) for name in _KNOBS["window"] if (value := getattr(arguments, name)) is not None}
    settings = _link.settings_of(arguments.lexicon, knobs=knobs, one_to_one=arguments.one_to_one, k=arguments.neighbours,
                                 method=arguments.method, keep_unknown=arguments.unknown == "keep",
                                 source_given_target=arguments.probability == "from-given-to", **own)
    job = _Job(arguments)
    sides = [job.files(arguments.source, "records-from"), job.files(arguments.target, "records-to")]
    documents, links = _link.find_links(job.stages, [files.documents() for files in sides], settings)
    if arguments.sentences:
        _write_sentences(arguments, sides, settings.lexicon,
                         _link_sentences.find_pairs(job.stages, documents, links, settings, arguments.sentence_threshold))
    else:
        found = _named(links.table, {"from": (sides[0], "from_name"), "to": (sides[1], "to_name")})
        columns = ["similarity", "score", "probability"]
        _write_table(arguments.output, ["from", "to", *columns],
                     found.orderBy("place").select("from_name", "to_name", *columns))
    for notice in job.stages.report.get("notices", []):
        print(f"cognate: {notice}", file=sys.stderr)
    return 0 if job.end()["links"] else 1


def _check_result(arguments: argparse.Namespace) -> None:
    if not arguments.sentences:
        for name in ("sentence_threshold", "format"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"--{name.replace('_', '-')} belongs to --sentences")
        if ".tmx" in arguments.output:
            raise ValueError("TMX holds sentence pairs: add --sentences, or choose another name")
    if arguments.sentence_threshold is None:
        arguments.sentence_threshold = _link_sentences.THRESHOLD
    _link_sentences.check_threshold(arguments.sentence_threshold)


def _write_sentences(arguments: argparse.Namespace, sides: list[Files], lexicon: Any, pairs: Stage) -> None:
    """Writes sentence pairs in the order of the links."""
    found = _named(pairs.table, {"from_row": (sides[0], "from_name"), "to_row": (sides[1], "to_name")})
    rows = found.orderBy("place", "number").select("from", "to", "similarity", "from_name", "to_name", "score")
    with link_batch.SentenceWriter(lexicon, arguments.output, arguments.format or "auto") as writer:
        for row in rows.toLocalIterator():
            writer.add(*row)


def _run_related(arguments: argparse.Namespace) -> int:
    settings = _signature_settings(arguments, arguments.method)
    given = _log.read_queries(arguments.queries) if arguments.queries else None
    job = _Job(arguments)
    files = Files(job.stages, arguments.inputs, "txt", True, {"id": "id"})
    log, bad = _log.read(files.records)
    if bad:
        print(f"cognate: {bad} rows of the log are bad and left out", file=sys.stderr)
    job.stages.note(bad_rows=bad)
    vectors = grouped(log, "query", "url", "clicks", arguments.min_urls, "_row")
    documents, near = find_related(job.stages, vectors, hash_of(files.data, arguments.min_urls), given,
                                   method=arguments.method, threshold=arguments.threshold, **settings)
    names = documents[-1].table.select("row", "id")
    rows = near.table.join(names.toDF("a", "a_name"), "a").join(names.toDF("b", "b_name"), "b").orderBy("a", "b")
    count = _write_table(arguments.output, _PAIR_COLUMNS, rows.select("a_name", "b_name", "similarity", "distance"))
    job.end()
    return 0 if count else 1


COMMANDS = {
    "dedup": Command("removes near-duplicates, and writes the records that stay", _dedup_options, _run_dedup),
    "pairs": Command("similar pairs inside a collection, or between two", _pairs_options, _run_pairs),
    "link": Command("the partner of each document in a collection of another language", _link_options, _run_link),
    "related": Command("pairs of queries of a log whose users clicked the same URLs", _related_options, _run_related),
    "archive": Command("writes the archive that brings this package to executors", _archive_options, _run_archive),
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("cognate spark", description="Jobs on a Spark cluster.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.options(commands.add_parser(name, help=command.summary, description=command.summary))
    parsed = parser.parse_args(arguments)
    try:
        return COMMANDS[parsed.command].run(parsed)
    except (ImportError, OSError, ValueError) as error:
        print(f"cognate: {error}", file=sys.stderr)
        return 2
