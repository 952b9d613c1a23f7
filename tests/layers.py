#!/usr/bin/env python3
"""Proves the layer rule: a file includes headers of its own folder, of lower layers, and on its own layer
only of folders to its left; a method of search includes no other method; the front end includes only cognate.h and
its own headers. Also that no folder grows beyond a screen of files, that a header has a source of its name, that no
file names a place on somebody's machine, and that nothing was committed that is too large to have been written by
hand."""
import pathlib
import re
import shutil
import subprocess
import sys

LAYERS = [
    ["base", "run", "hamming", "store"],
    ["input", "text", "vector", "signature", "crosslingual"],
    ["estimate", "search", "join", "cluster", "plan", "index"],
    ["collection", "jobs"],
    ["api"],
]
RANK = {name: (layer, column) for layer, row in enumerate(LAYERS) for column, name in enumerate(row)}
SHARED_BY_METHODS = {"keys", "probes", "hits"}
SOURCES_MOST = 25
MACHINE = re.compile(r"/(?:wor[k]|home/\w+|roo[t]|Users/\w+)/")
LARGEST_BYTES = 200_000
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def may_include(folder, target):
    """Both are paths below src. A method of search includes only what all methods share."""
    own, other = folder.split("/"), target.split("/")
    if own[0] != other[0]:
        (layer, column), (below, place) = RANK[own[0]], RANK[other[0]]
        return below < layer or (below == layer and place < column)
    if own[0] == "search" and len(own) > 1 and len(other) > 1 and own[1] != other[1]:
        return other[1] in SHARED_BY_METHODS
    return True


def faults(root):
    sources, names = {}, {}
    for path in sorted((root / "src").rglob("*.[ch]*")):
        folder = path.parent.relative_to(root / "src").as_posix()
        if folder.split("/")[0] not in RANK:
            yield f"{path}: folder {folder} is in no layer"
            continue
        for name in INCLUDE.findall(path.read_text()):
            target = name.rpartition("/")[0]
            if name == "cognate.h":
                continue
            if target.split("/")[0] not in RANK or not may_include(folder, target):
                yield f"{path}: may not include {name}"
        if path.suffix != ".h":
            sources[folder] = sources.get(folder, 0) + 1
        elif not (path.stem.endswith("_loop") or any(
                path.with_suffix(end).exists() for end in (".c", ".cc"))):
            yield f"{path}: no source has the name of this header"
        if names.setdefault(path.name, path) != path:
            yield f"{path}: the file name is taken by {names[path.name]}"
    for folder, count in sources.items():
        if count > SOURCES_MOST:
            yield f"src/{folder}: {count} source files; cut it along its ideas"
    for path in sorted([*root.glob("cli/*.[ch]"), *root.glob("python/extension/*.[ch]")]):
        for name in INCLUDE.findall(path.read_text()):
            if name != "cognate.h" and not (path.parent / name).exists():
                yield f"{path}: may not include {name}"
    yield from committed(root)


def committed(root):
    """Only a checkout knows what was committed, and only if git is there: an archive has nothing to check."""
    if not shutil.which("git"):
        return
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False).stdout
    for name in filter(None, listed.decode().split("\0")):
        path = root / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if len(data) > LARGEST_BYTES:
            yield f"{path}: {len(data)} bytes; data does not belong into the tree"
        if path != pathlib.Path(__file__).resolve() and (found := MACHINE.search(data.decode(errors="replace"))):
            yield f"{path}: names a place on one machine: {found[0]}"


def main():
    found = list(faults(pathlib.Path(__file__).resolve().parent.parent))
    for fault in found:
        print("FAIL", fault)
    print(f"{0 if found else 1} passed, {len(found)} failed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
