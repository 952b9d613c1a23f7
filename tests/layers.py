#!/usr/bin/env python3
"""Proves the layer rule: a file includes headers of its own folder, of lower layers, and on its own layer
only of folders to its left; the front end includes only cognate.h and its own headers."""
import pathlib
import re
import sys

LAYERS = [
    ["base", "hamming", "store"],
    ["input", "text", "vector", "crosslingual", "signature"],
    ["index"],
    ["match", "plan", "evaluate", "job"],
]
RANK = {name: (layer, column) for layer, row in enumerate(LAYERS) for column, name in enumerate(row)}
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


def main():
    found = list(faults(pathlib.Path(__file__).resolve().parent.parent))
    for fault in found:
        print("FAIL", fault)
    print(f"{0 if found else 1} passed, {len(found)} failed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
