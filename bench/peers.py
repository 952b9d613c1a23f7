"""Rivals from PyPI, each in a virtual environment of its own below build/, made when it is first wanted."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
ENTERED = "COGNATE_PEER"


def python_with(name, *packages, least=(3, 0)):
    """The interpreter of the environment of that name, of the Python version `least` or later; None if there is none."""
    environment = BUILD / f"venv-{name}"
    python = environment / "bin" / "python"
    if not (environment / "made").exists():
        base = base_python(least)
        if not base:
            return None
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([base, "-m", "venv", str(environment)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True, stdout=sys.stderr)
        (environment / "made").touch()
    return str(python)


def base_python(least):
    """An installed interpreter of that version or later: the running one, one on the PATH, or one of pyenv."""
    if sys.version_info >= least:
        return sys.executable
    roots = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"), "versions")
    names = [f"python3.{minor}" for minor in range(least[1], least[1] + 6)]
    candidates = [shutil.which(name) for name in names] + [str(path) for path in sorted(roots.glob("3.*/bin/python3"))]
    for candidate in filter(None, candidates):
        check = f"import sys, venv; sys.exit(sys.version_info < {least})"
        if subprocess.run([candidate, "-c", check], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def version_of(python, package):
    """The installed version of a package in an environment."""
    code = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
    return subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def need(module, *packages):
    """Starts the running program again in an environment that has the module, unless it is here."""
    if importlib.util.find_spec(module):
        return
    if os.environ.get(ENTERED) == module:
        sys.exit(f"{sys.argv[0]}: {module} cannot be imported from {BUILD}/venv-{module}: remove the folder and try again")
    python = python_with(module, *packages)
    os.execve(python, [python, *sys.argv], {**os.environ, ENTERED: module})
