#!/usr/bin/env python3
"""Proves that README.md, CONTRIBUTING.md and docs/ name only what exists: paths of the tree, links between documents,
options of the program, functions and types of cognate.h. usage: tests/documents.py PROGRAM"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOP = "bench|cli|cmake|docs|fuzz|include|python|src|tests|tools|web"
PATH = re.compile(rf"(?<![\w/.-])((?:{TOP})/[\w./*-]*[\w*/]|[\w-]+\.md)(?![\w/])")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
NAME = re.compile(r"\bcog_[a-z0-9_]+\b")
# These have options of their own; those of the last two are options of `cognate spark` and of Spark.
SCRIPTS = ("Makefile", "bench/*", "bench/*/*.py", "fuzz/run", "tests/run", "tools/*", "python/cognate/spark/*.py",
           "python/tests/spark/*.py")


def options_of(program):
    """What the help of every command and sub-command names."""
    def help_text(*words):
        shown = [subprocess.run([program, *words, word], capture_output=True, text=True, check=False)
                 for word in ("--help", "--help-all")]
        return "\n".join(run.stdout for run in shown if run.returncode == 0)

    names = subprocess.run([program, "help", "names"], capture_output=True, text=True, check=True).stdout.split()
    text = ""
    for name in names:
        shown = help_text(name)
        usage = re.findall(rf"cognate {name} ([a-z]+(?:\|[a-z]+)*)", shown)
        text += shown + "".join(help_text(name, sub) for words in usage for sub in words.split("|"))
    return set(OPTION.findall(text))


def faults(program):
    options = options_of(program)
    for path in (path for pattern in SCRIPTS for path in ROOT.glob(pattern) if path.is_file()):
        options.update(OPTION.findall(path.read_text()))
    header = {name for path in (ROOT / "include").glob("*.h") for name in NAME.findall(path.read_text())}
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text()
        for number, line in enumerate(text.split("\n"), 1):
            place = f"{path.relative_to(ROOT)}:{number}"
            for name in PATH.findall(line):
                if not any(any(base.glob(name.rstrip("/"))) for base in (ROOT, path.parent)):
                    yield f"{place}: there is no {name}"
            for name in LINK.findall(line):
                if not (path.parent / name).exists():
                    yield f"{place}: the link to {name} leads nowhere"
            of_spark = line.startswith("    $home/bin/spark-")  # programs of others
            for name in OPTION.findall(line) if not of_spark else ():
                if name not in options:
                    yield f"{place}: no command has {name}"
            for name in NAME.findall(line):
                if name not in header:
                    yield f"{place}: cognate.h has no {name}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(faults(sys.argv[1]))
    for fault in found:
        print("FAIL", fault)
    print(f"{0 if found else 1} passed, {len(found)} failed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
