#!/usr/bin/env python3
"""The tests of datasketch and faiss themselves, run on cognate.compat in place of these libraries.

usage: peer_suites.py datasketch|faiss FILE...      files of the library's own test folder, as it distributes them

Tests that import parts which compat does not have fail, and are listed by name. Ends with one line of counts. The table in
docs/python.md says which tests are left out, and why."""
import collections
import importlib
import pathlib
import sys
import types

import pytest


class Counter:
    """Outcomes of tests by name."""

    def __init__(self):
        self.outcomes = collections.Counter()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1
            if report.outcome != "passed":
                reason = str(report.longrepr).strip().splitlines()[-1][:120]
                print(f"{report.outcome}: {report.nodeid.rpartition('/')[2]}: {reason}")

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.outcomes["not loaded"] += 1
            print(f"not loaded: {report.nodeid}: {str(report.longrepr).strip().splitlines()[-1][:120]}")


class Absent:
    """A name that compat does not have: tests that use it fail, others of the file run."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *arguments, **options):
        raise NotImplementedError(f"compat has no {self.name}")

    def __getattr__(self, name):
        raise NotImplementedError(f"compat has no {self.name}")


class Stand(types.ModuleType):
    """Our module by their name."""

    def __init__(self, name, ours):
        super().__init__(name)
        self.__path__ = []
        self.__dict__.update({key: value for key, value in vars(ours).items() if not key.startswith("__")})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name)


def frame_of_faiss(stand):
    """What the tests' own frame asks of faiss: threads, and one level of instructions."""
    levels = {f"SIMDLevel_{name}": number for number, name in enumerate(
        ("NONE", "AVX2", "AVX512", "AVX512_SPR", "ARM_NEON", "ARM_SVE", "RISCV_RVV"))}
    config = types.SimpleNamespace(is_simd_level_available=lambda level: level == 0, get_level=lambda: 0,
                                   set_level=lambda level: None, get_dispatched_level=lambda: 0)
    vars(stand).update(levels, SIMDConfig=config, omp_set_num_threads=lambda count: None,
                       omp_get_max_threads=lambda: 1)


def main():
    library, *files = sys.argv[1:]
    ours = importlib.import_module(f"cognate.compat.{library}")
    parts = {"datasketch": ["hashfunc", "minhash", "lsh", "lean_minhash", "b_bit_minhash", "weighted_minhash", "lshforest", "storage"],
             "faiss": ["contrib", "contrib.datasets"]}[library]
    for name in [library, *(f"{library}.{part}" for part in parts)]:
        sys.modules[name] = Stand(name, ours)
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, sys.modules[name])
    if library == "faiss":
        frame_of_faiss(sys.modules["faiss"])
    for folder in {str(pathlib.Path(file).resolve().parent) for file in files}:
        sys.path[:0] = [folder, str(pathlib.Path(folder).parent)]
    counter = Counter()
    pytest.main(["-p", "no:cacheprovider", "-p", "no:terminal", *files],
                plugins=[counter])
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counter.outcomes.items())))


if __name__ == "__main__":
    main()
