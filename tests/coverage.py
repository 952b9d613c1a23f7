#!/usr/bin/env python3
"""Prints which share of the code lines of src/ the tests ran: one line per folder, then the least covered files.
usage: tests/coverage.py BUILD (built with -DCOGNATE_COVERAGE=ON, after the tests ran)"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES_SHOWN = 20


def counts(build):
    """File below src -> {line: times run}; a line of a header counts once, whoever includes it."""
    lines = collections.defaultdict(dict)
    notes = sorted((build / "CMakeFiles/cognate-objects.dir/src").rglob("*.gcno"))
    for note in notes:
        shown = subprocess.run(["gcov", "--json-format", "--stdout", note], capture_output=True, text=True, check=True)
        for document in filter(None, shown.stdout.split("\n")):
            document = json.loads(document)
            for file in document["files"]:
                path = pathlib.Path(document["current_working_directory"], file["file"]).resolve()
                if ROOT / "src" not in path.parents:
                    continue
                known = lines[path.relative_to(ROOT / "src").as_posix()]
                for line in file["lines"]:
                    known[line["line_number"]] = known.get(line["line_number"], 0) + line["count"]
    return lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    files = {name: (sum(n > 0 for n in lines.values()), len(lines))
             for name, lines in counts(pathlib.Path(sys.argv[1]).resolve()).items() if lines}
    if not files:
        sys.exit("no counts: build with -DCOGNATE_COVERAGE=ON and run the tests first")
    folders = collections.defaultdict(lambda: [0, 0])
    for name, (run, lines) in files.items():
        for folder in {name.rpartition("/")[0], "all of src"}:
            folders[folder][0] += run
            folders[folder][1] += lines
    print(f"{'folder':<28}{'lines':>7}{'run':>7}{'share':>8}")
    for folder in sorted(folders, key=lambda name: (name == "all of src", name)):
        run, lines = folders[folder]
        print(f"{folder:<28}{lines:>7}{run:>7}{100 * run / lines:>7.1f}%")
    print("\nmost lines that no test ran:")
    for name, (run, lines) in sorted(files.items(), key=lambda file: file[1][0] - file[1][1])[:FILES_SHOWN]:
        print(f"{name:<50}{lines - run:>5} of {lines}")


if __name__ == "__main__":
    main()
