"""What the tests on Spark share: a cluster of two workers in their own processes, and a session on it.

The executors' Python has no packages: everything comes from the archive.
"""
import pathlib
import subprocess
import sys

import pytest

import cognate.spark
from cluster import Cluster, session

ROOT = pathlib.Path(__file__).resolve().parents[3]


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
    running = session(cluster.url, archive, cluster.folder)
    yield running
    running.stop()
