#!/usr/bin/env python3
"""Compiles and runs the examples of docs/api.md against the shared library of a build: the first block is the beginning
of every program, each other one stands inside main and prints the block of text behind it.
usage: tests/api_examples.py BUILD"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```c\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.M | re.S)
TITLE = re.compile(r"^## (.*)$", re.M)


def run(build, beginning, body, scratch):
    """What the example prints, or what went wrong."""
    source = scratch / "example.c"
    source.write_text(f"{beginning}\nint main(void) {{\n{body}    return 0;\n}}\n")
    compiled = subprocess.run(
        ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{ROOT / 'include'}", source, "-o", scratch / "example",
         f"-L{build}", "-lcognate", f"-Wl,-rpath,{build}"], capture_output=True, text=True, check=False)
    if compiled.returncode:
        return compiled.stderr
    done = subprocess.run([scratch / "example"], cwd=scratch, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    text = (ROOT / "docs/api.md").read_text()
    beginning, *examples = BLOCK.finditer(text)
    failed = 0
    for example in examples:
        title = TITLE.findall(text[:example.start()])[-1]
        with tempfile.TemporaryDirectory() as scratch:
            printed = run(build, beginning[1], example[1], pathlib.Path(scratch))
        good = printed == (example[2] or "")
        failed += not good
        print(f"ok   {title}" if good else f"FAIL {title}\n{printed}")
    print(f"{len(examples) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
