#!/usr/bin/env python3
"""Proves the layer rule: a file includes headers of its own folder, of lower layers, and on its own layer
only of folders to its left; the front end includes only cognate.h and its own headers. Also that nothing
was committed that is too large to have been written by hand."""
import pathlib
import re
import shutil
import subprocess
import sys

LAYERS = [
    ["base", "hamming", "store"],
    ["input", "text", "vector", "crosslingual", "signature"],
    ["index"],
    ["match", "plan", "evaluate", "job"],
]
RANK = {name: (layer, column) for layer, row in enumerate(LAYERS) for column, name in enumerate(row)}
LARGEST_BYTES = 200_000
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def may_include(folder, target):
    if folder == target:
        return True
    (layer, column), (other, place) = RANK[folder], RANK[target]
    return other < layer or (other == layer and place < column)


def faults(root):
    for path in sorted(root.glob("src/*/*.[ch]*")):
        folder = path.parent.name
        if folder not in RANK:
            yield f"{path}: folder {folder} is in no layer"
            continue
        for name in INCLUDE.findall(path.read_text()):
            target = name.split("/")[0]
            if name == "cognate.h":
                continue
            if target not in RANK or not may_include(folder, target):
                yield f"{path}: may not include {name}"
    for path in sorted(root.glob("cli/*.[ch]")):
        for name in INCLUDE.findall(path.read_text()):
            if name != "cognate.h" and not (path.parent / name).exists():
                yield f"{path}: may not include {name}"
    names = {}
    for path in sorted(root.glob("src/*/*.[ch]*")):
        if names.setdefault(path.name, path) != path:
            yield f"{path}: the file name is taken by {names[path.name]}"
    yield from oversized(root)


def oversized(root):
    """A checkout alone can tell what was committed, and only where git is: an archive has nothing to check."""
    if not shutil.which("git"):
        return
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False).stdout
    for name in filter(None, listed.decode().split("\0")):
        path = root / name
        if path.is_file() and path.stat().st_size > LARGEST_BYTES:
            yield f"{path}: {path.stat().st_size} bytes; data does not belong into the tree"


def main():
    found = list(faults(pathlib.Path(__file__).resolve().parent.parent))
    for fault in found:
        print("FAIL", fault)
    print(f"{0 if found else 1} passed, {len(found)} failed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
