"""Interfaces of other libraries over Cognate: a program only changes its import."""
import importlib as _importlib
from types import ModuleType as _ModuleType


def __getattr__(name: str) -> _ModuleType:
    """Parts that are loaded when they are first used."""
    if name in ("datasketch", "faiss"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
