"""Rivals from PyPI, each in a virtual environment of its own below build/, made when it is first wanted."""
import importlib.util
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
ENTERED = "COGNATE_PEER"


def python_with(name, *packages):
    """The interpreter of the environment of that name."""
    environment = BUILD / f"venv-{name}"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True, stdout=sys.stderr)
    return str(python)


def need(module, *packages):
    """Starts the running program again in an environment that has the module, unless it is here."""
    if importlib.util.find_spec(module):
        return
    if os.environ.get(ENTERED) == module:
        sys.exit(f"{sys.argv[0]}: {module} cannot be imported from {BUILD}/venv-{module}: remove the folder and try again")
    python = python_with(module, *packages)
    os.execve(python, [python, *sys.argv], {**os.environ, ENTERED: module})
