"""The package as it was installed: types, tags, licences, and what the module needs."""
import importlib.metadata
import os
import pathlib
import subprocess
import sys

import pytest

import cognate
from conftest import ROOT

FOLDER = pathlib.Path(cognate.__file__).parent


def test_types():
    done = subprocess.run([sys.executable, "-m", "mypy", f"--config-file={ROOT / 'pyproject.toml'}",
                           "--cache-dir=/dev/null", ROOT / "python/cognate"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_users_see_the_types(tmp_path):
    (tmp_path / "user.py").write_text("import cognate\nkept = cognate.dedup(['a'], threshold=0.5).kept\n"
                                      "cognate.dedup(['a'], treshold=0.5)\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir=/dev/null", "user.py"], capture_output=True,
                          text=True, cwd=tmp_path)
    assert "treshold" in done.stdout and done.stdout.count("error:") == 1, done.stdout


def test_a_strict_user(tmp_path):
    """A program that uses everything passes mypy --strict, with the types that it says."""
    (tmp_path / "user.py").write_text('''
from collections.abc import Iterator
from typing import Any
import numpy as np
import cognate
from cognate import compat
from cognate.compat.datasketch import LeanMinHash, MinHash, MinHashLSH, WeightedMinHashGenerator
from cognate.compat.faiss import IndexBinaryFlat

def stream() -> Iterator[str]:
    yield "a text"

result: cognate.DedupResult = cognate.dedup(stream(), threshold=0.5, keep="first", threads=2, memory="1G", progress=True)
rows: list[int] = result.kept.tolist() + result.skipped + result.skipped_against
table: cognate.Table = cognate.pairs(["a"], against=["b"], measure="jaccard", knobs={"tables": 3})
for row in table:
    values: tuple[Any, ...] = row
signatures: np.ndarray[Any, Any] = cognate.sign(["a"], kind="simhash", bits=64)
both: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] = cognate.sign(["a"], margins=True)
lexicon: cognate.Lexicon = cognate.Lexicon.train([("das", "the")], "de", "en")
links: cognate.Table = cognate.link(["a"], ["b"], lexicon=lexicon, precision=0.9)
why: list[cognate.WordMatch] = cognate.explain("a", "b").words
with cognate.Index.build(["a"], method="auto", recall=0.95) as index, cognate.Seen(threshold=0.8) as seen:
    hits: cognate.Table = index.search("a", k=10)
    removed: int = index.remove("0") + index.remove([1, 2])
    number: int | None = seen("a")
    index.save("folder")
sketch = MinHash()
lsh = MinHashLSH(threshold=0.5)
lsh.insert("key", sketch)
flat = IndexBinaryFlat(64)
lean: MinHash = LeanMinHash(sketch)
''')
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", "user.py"], capture_output=True,
                          text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_one_wheel_for_all_pythons():
    wheel = importlib.metadata.distribution("cognate").read_text("WHEEL") or ""
    assert "Tag: cp311-abi3-manylinux" in wheel
    assert (FOLDER / "_cognate.abi3.so").exists() and (FOLDER / "py.typed").exists()


def test_licences():
    files = {path.name for path in (FOLDER / "licenses").iterdir()}
    assert {"libicu-dev.txt", "libcld2-dev.txt", "libsimdjson-dev.txt", "libstemmer-dev.txt"} <= files
    names = [str(file) for file in importlib.metadata.distribution("cognate").files or []]
    assert any(name.endswith("LICENSE") for name in names)


def test_nothing_of_the_machine_is_needed():
    """The libraries come with the package, but for those of the C and C++ runtime."""
    allowed = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2",
               "libpthread.so.0", "/lib64/ld-linux-x86-64.so.2"}
    for name in "_cognate.abi3.so", "cognate-program":
        for line in subprocess.run(["ldd", FOLDER / name], capture_output=True, text=True).stdout.splitlines():
            library, _, place = line.strip().partition(" => ")
            library = library.split(" (")[0]
            assert library in allowed or str(FOLDER.parent) in os.path.realpath(place.split(" (")[0]), line


def test_version():
    header = (ROOT / "include/cognate.h").read_text()
    assert f'#define COG_VERSION "{cognate.__version__}"' in header
    assert importlib.metadata.version("cognate") == cognate.__version__


@pytest.mark.parametrize("name", ["python.md"])
def test_documents(name, tmp_path):
    """The blocks of a guide, one behind the other in one interpreter, with what they print."""
    import doctest
    path = ROOT / "docs" / name
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        result = doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    finally:
        os.chdir(here)
    assert result.failed == 0 and result.attempted > 10
