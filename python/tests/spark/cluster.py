"""A standalone cluster in processes of its own, on this machine's loopback interface: a master and its workers."""
import os
import pathlib
import re
import subprocess
import sys
import time

import pyspark

HOME = pathlib.Path(pyspark.__file__).parent
_SECONDS = 120


class Cluster:
    """Starts on entry, ends its own processes on exit. Worker i writes into folder/worker-i."""

    def __init__(self, folder, workers=2, cores=1, memory="1g", python_path=None, pin=False):
        self.folder, self.cores, self.memory, self.pin = pathlib.Path(folder), cores, memory, pin
        self.count = workers
        self.master, self.workers, self.others = None, [], []
        self.url = None
        # What a worker's executors find: no packages, and the Python that PATH names.
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("PYTHONPATH", "VIRTUAL_ENV", "PYSPARK_PYTHON")}
        self.environment.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=str(HOME), SPARK_NO_DAEMONIZE="1",
                                SPARK_DAEMON_JAVA_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        if python_path:
            self.environment["PATH"] = f"{python_path}:{self.environment['PATH']}"

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.master = self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port",
                                  "0", "--webui-port", "0")
        self.url = self._wait_for("master", self.master, r"Starting Spark master at (spark://\S+)")
        try:
            for i in range(self.count):
                self._begin_worker(i)
            for i in range(self.count):
                self._wait_for_worker(i)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin_worker(self, number):
        name = f"worker-{number}"
        process = self._start(name, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
                              "--cores", str(self.cores), "--memory", self.memory, "--work-dir",
                              str(self.folder / name), self.url, core=number if self.pin else None)
        self.workers.append(process)

    def _wait_for_worker(self, number):
        self._wait_for(f"worker-{number}", self.workers[number], r"(Successfully registered with master)")

    def _start(self, name, kind, *arguments, core=None, memory="256m"):
        environment = {**self.environment, "SPARK_DAEMON_MEMORY": memory, "SPARK_WORKER_DIR": str(self.folder / name),
                       "SPARK_LOCAL_DIRS": str(self.folder / f"{name}-scratch")}
        command = [str(HOME / "bin/spark-class"), kind, *arguments]
        if core is not None:
            command = ["taskset", "-c", str(core % os.cpu_count()), *command]
        with open(self.folder / f"{name}.log", "wb") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                    env=environment, start_new_session=True)

    def _wait_for(self, name, process, pattern):
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            text = (self.folder / f"{name}.log").read_text(errors="replace")
            if found := re.search(pattern, text):
                return found[1]
            if process.poll() is not None:
                raise RuntimeError(f"the {name} ended: {text[-2000:]}")
            time.sleep(0.2)
        raise RuntimeError(f"the {name} did not start within {_SECONDS} s")

    def start_connect(self, **settings):
        """A server of Spark Connect that runs jobs on the cluster, in a process that ends with it. Returns its address."""
        usual = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0",
                 "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m", "spark.executor.cores": "1",
                 "spark.cores.max": "2", "spark.ui.enabled": "false"}
        given = [part for name, value in {**usual, **settings}.items() for part in ("--conf", f"{name}={value}")]
        process = self._start("connect", "org.apache.spark.deploy.SparkSubmit", "--master", self.url, *given, "--class",
                              "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal", memory="768m")
        self.others.append(process)
        return "sc://127.0.0.1:" + self._wait_for("connect", process, r"Connect server started at: ?\S*:(\d+)")

    def executors(self, worker):
        """Process ids of the executors of a worker."""
        threads = pathlib.Path(f"/proc/{self.workers[worker].pid}/task").glob("*/children")
        children = [pid for path in threads for pid in path.read_text().split()]
        return [int(pid) for pid in children
                if b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]

    def __exit__(self, *_):
        for process in [*self.others, *self.workers, self.master]:
            if process is not None:
                process.terminate()
        for process in [*self.others, *self.workers, self.master]:
            if process is not None:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def session(url, archive, folder, **settings):
    """A session on a cluster whose executors have the archive's packages and no others."""
    from pyspark.sql import SparkSession
    os.environ["PYSPARK_PYTHON"] = "./environment/bin/python"
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(url).appName("cognate tests")
    usual = {"spark.archives": f"{archive}#environment", "spark.driver.host": "127.0.0.1",
             "spark.driver.memory": "1g", "spark.executor.memory": "768m", "spark.ui.enabled": "false",
             "spark.executor.cores": "1", "spark.cores.max": "2",
             "spark.sql.shuffle.partitions": "4", "spark.local.dir": str(pathlib.Path(folder) / "driver-scratch"),
             "spark.sql.warehouse.dir": str(pathlib.Path(folder) / "warehouse"),
             "spark.executor.processTreeMetrics.enabled": "true", "spark.log.level": "ERROR"}
    for name, value in {**usual, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
