"""The archive that brings the package to executors, which need only a Python of the same version.

The archive holds the packages and a small `bin/python` that runs the machine's own Python with them. Spark unpacks it
next to each executor:

    spark.archives  env.tar.gz#environment
    PYSPARK_PYTHON  ./environment/bin/python
"""
from __future__ import annotations

import gzip
import importlib.metadata
import io
import os
import pathlib
import sys
import tarfile
from collections.abc import Iterable

PACKAGES = ("numpy", "pyarrow")
#: Executors unpack the archive under this name.
FOLDER = "environment"
PYTHON = f"./{FOLDER}/bin/python"
# Parts of packages that executors never load, by the beginnings of names.
_LEFT_OUT = ("pyarrow/tests/", "pyarrow/include/", "pyarrow/src/", "numpy/_core/include/",
             "numpy/f2py/", "pyarrow/libarrow_flight", "pyarrow/libarrow_python_flight", "pyarrow/_flight",
             "pyarrow/libarrow_s3", "pyarrow/_s3fs", "pyarrow/_pyarrow_cpp_tests")

_LAUNCHER = """#!/bin/sh
# Runs the Python of this machine with the packages of the archive.
here=$(cd "$(dirname "$0")/.." && pwd)
for python in "$COGNATE_PYTHON" python{version} python3; do
    if [ -n "$python" ] && command -v "$python" >/dev/null 2>&1 &&
        [ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" = {version} ]; then
        PYTHONPATH="$here/packages${{PYTHONPATH:+:$PYTHONPATH}}" exec "$python" "$@"
    fi
done
echo "the archive of cognate needs Python {version}, and $(hostname) has none on its PATH: install it, set" >&2
echo "COGNATE_PYTHON in the executors' environment, or make the archive with the Python that is there" >&2
exit 127
"""


def archive(path: str, packages: Iterable[str] = ()) -> str:
    """Writes the archive, with further installed packages if any are named, and returns its path.

    The same packages give the same bytes.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as raw, gzip.GzipFile("", "wb", 3, raw, mtime=0) as file, \
                tarfile.open(fileobj=file, mode="w") as tar:
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            launcher = _LAUNCHER.format(version=version).encode()
            _add(tar, "bin/python", io.BytesIO(launcher), len(launcher), 0o755)
            for name, source in sorted(_files([*PACKAGES, *packages]).items()):
                with open(source, "rb") as content:
                    _add(tar, f"packages/{name}", content, os.path.getsize(source), 0o644)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    return path


def _add(tar: tarfile.TarFile, name: str, content: io.IOBase | io.BufferedReader, size: int, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, mode
    tar.addfile(entry, content)


def _own_files() -> dict[str, str]:
    """This package as it runs, and the libraries that its wheel brought."""
    own = pathlib.Path(__file__).resolve().parents[1]
    return {path.relative_to(own.parent).as_posix(): str(path) for folder in (own, own.with_name("cognate.libs"))
            for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
            and path.name != "cognate-program"}


def _files(packages: list[str]) -> dict[str, str]:
    """Names in the archive, and where the files lie."""
    found = _own_files()
    for package in packages:
        try:
            distribution = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            raise ModuleNotFoundError(f"{package} is not installed: pip install {package}, then make the archive "
                                      "again") from None
        for file in distribution.files or []:
            name = file.as_posix()
            source = str(file.locate())
            if (not name.startswith(("..", *_LEFT_OUT)) and "__pycache__" not in name and "/tests/" not in name
                    and os.path.isfile(source)):
                found[name] = source
    return found
