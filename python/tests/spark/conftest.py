"""What the tests on Spark share: a cluster of two workers in their own processes, and a session on it.

The executors' Python has no packages: everything comes from the archive. Tests that are marked as long run only with
COGNATE_LONG in the environment (`make check-long`).
"""
import os
import pathlib
import subprocess
import sys

import pytest

import cognate.spark
from cluster import Cluster, session

_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUICK = {"spark.driver.extraJavaOptions": _JAVA, "spark.executor.extraJavaOptions": _JAVA,
         "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
ROOT = pathlib.Path(__file__).resolve().parents[3]


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; runs only with COGNATE_LONG in the environment")


def pytest_collection_modifyitems(config, items):
    if not os.environ.get("COGNATE_LONG"):
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def archive(tmp_path_factory):
    return cognate.spark.archive(str(tmp_path_factory.mktemp("archive") / "env.tar.gz"))


@pytest.fixture(scope="session")
def empty_python(tmp_path_factory):
    """The bin folder of a Python without packages."""
    folder = tmp_path_factory.mktemp("python") / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory, empty_python):
    # A second core for programs that tests start while the session runs, which takes one core of each worker.
    with Cluster(tmp_path_factory.mktemp("cluster"), workers=2, cores=2, memory="2g", python_path=empty_python) as running:
        yield running


@pytest.fixture(scope="session")
def spark(cluster, archive):
    # Jobs are short: compiling their code by C2, or at all, takes longer than it saves.
    running = session(cluster.url, archive, cluster.folder, **QUICK)
    yield running
    running.stop()
