#!/usr/bin/env python3
"""Runs a command as a process of its own and measures it: wall seconds until its output is on the disk, processor seconds
and peak resident memory with all its children, and the temporary disk it uses.

    import measured
    result = measured.run([...], sync=[output], limit=600)

The command is started by a small process (this file as a program): Linux counts the memory of the process that forked
as the child's, so the caller may be of any size."""
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

PERIOD_SECONDS = 0.1


def run(command, sync=(), limit=None, folder=None, environment=None, watch=None, printed=None):
    """A dict: status, late (stopped at the limit), wall, cpu (seconds), peak (bytes), disk (bytes), error (the last of what it printed).

    `sync`: files and folders that are written to the disk before the clock stops. `folder`: where the command runs.
    `watch`: the folder of temporary files, whose greatest size is `disk`, together with files that the command has open
    and that have no name. `printed`: a file for what it prints."""
    spec = {"command": [str(word) for word in command], "sync": [str(path) for path in sync], "limit": limit,
            "folder": str(folder) if folder else None, "environment": environment or {},
            "watch": str(watch) if watch else None, "printed": str(printed) if printed else None}
    done = subprocess.run([sys.executable, "-S", "-E", __file__], input=json.dumps(spec), stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads(done.stdout)


def warm(*paths):
    """Brings files into the page cache, and what earlier commands wrote to the disk."""
    os.sync()
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


# ---- The small process ------------------------------------------------------------------------------------------------


class Watcher(threading.Thread):
    """Looks at the processes of a session until it is stopped."""

    def __init__(self, session, limit, folder):
        super().__init__(daemon=True)
        self.session, self.limit, self.folder = session, limit, folder
        self.start_time, self.ended = time.monotonic(), threading.Event()
        self.late, self.shared_peak, self.disk_peak = False, 0, 0

    def run(self):
        while not self.ended.wait(PERIOD_SECONDS):
            processes = self.processes()
            if len(processes) > 1:
                self.shared_peak = max(self.shared_peak, sum(map(proportional_bytes, processes)))
            if self.folder:
                self.disk_peak = max(self.disk_peak, temporary_bytes(self.folder, processes))
            if self.limit and time.monotonic() - self.start_time > self.limit and not self.late:
                self.late = True
                os.killpg(self.session, signal.SIGKILL)

    def processes(self):
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == self.session and fields[0] != "Z":
                    found.append(int(entry))
        return found


def proportional_bytes(process):
    """Resident memory, pages that several processes share divided among them."""
    try:
        for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def temporary_bytes(folder, processes):
    """Files below the folder, and files without a name that the processes have open."""
    sizes = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            add_size(sizes, os.path.join(parent, name))
    for process in processes:
        descriptors = f"/proc/{process}/fd"
        try:
            for name in os.listdir(descriptors):
                path = os.path.join(descriptors, name)
                if os.readlink(path).endswith(" (deleted)"):
                    add_size(sizes, path)
        except OSError:
            continue
    return sum(sizes.values())


def add_size(sizes, path):
    try:
        status = os.stat(path)
        sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
    except OSError:
        pass


def synchronise(path):
    files = [path] if os.path.isfile(path) else [os.path.join(parent, name) for parent, _, names in os.walk(path)
                                                 for name in names]
    for name in files:
        descriptor = os.open(name, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def start(spec, error):
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        if spec["folder"]:
            os.chdir(spec["folder"])
        nothing = os.open(os.devnull, os.O_RDWR)
        for source, target in (nothing, 0), (error, 1), (error, 2):
            os.dup2(source, target)
        os.execvpe(spec["command"][0], spec["command"], {**os.environ, **spec["environment"]})
    except BaseException as problem:  # nothing may return into the parent's code
        os.write(2, f"{spec['command'][0]}: {problem}\n".encode())
    os._exit(127)


def end_with_caller(session):
    """If the caller ends or is interrupted, the command ends too."""
    def stop(*_):
        os.killpg(session, signal.SIGKILL)
        os._exit(1)

    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, stop)
    parent_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGTERM)


def main():
    spec = json.load(sys.stdin)
    name = spec["printed"] or f"/tmp/measured.{os.getpid()}"
    error = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    begin = time.monotonic()
    child = start(spec, error)
    end_with_caller(child)
    watcher = Watcher(child, spec["limit"], spec["watch"])
    watcher.start()
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) == 0:
        for path in spec["sync"]:
            synchronise(path)
    wall = time.monotonic() - begin
    watcher.ended.set()
    watcher.join()
    size = os.fstat(error).st_size
    tail = os.pread(error, 4000, max(0, size - 4000)).decode(errors="replace")
    if not spec["printed"]:
        os.unlink(name)
    json.dump({"status": os.waitstatus_to_exitcode(status), "late": watcher.late, "wall": wall,
               "cpu": usage.ru_utime + usage.ru_stime, "peak": max(usage.ru_maxrss * 1024, watcher.shared_peak),
               "disk": watcher.disk_peak, "error": tail}, sys.stdout)


if __name__ == "__main__":
    main()
