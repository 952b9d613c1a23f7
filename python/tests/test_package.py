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
