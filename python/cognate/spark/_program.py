"""The command `cognate spark`: jobs over files on a cluster, for people who never write Python.

A job is a function that adds its options to a parser, and one that runs it; `COMMANDS` has them all.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import _archive


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
        settings.setdefault("spark.ui.showConsoleProgress", "false")
    archive = arguments.archive
    if archive is None and not (master.startswith("local") and "cluster" not in master):
        archive = _archive.archive(os.path.join(tempfile.mkdtemp(prefix="cognate-archive-"), "env.tar.gz"))
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
    """Writes the report where --stats wants it."""
    if arguments.stats:
        with open(arguments.stats, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")


# ---- The archive -----------------------------------------------------------------------------------------------------

def _archive_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the archive, such as env.tar.gz")
    parser.add_argument("--package", action="append", default=[], metavar="NAME", help="an installed package to add")


def _run_archive(arguments: argparse.Namespace) -> int:
    path = _archive.archive(arguments.output, arguments.package)
    print(f"{path}: {os.path.getsize(path) / 1e6:.1f} MB")
    return 0


COMMANDS = {
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
