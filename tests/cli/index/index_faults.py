"""Loss of power at any moment of a change of an index, and calls that fail.

usage: index_faults.py PROGRAM power|files|memory [SHARE] [KIND]

power: what each command does to the files is recorded. After every call of the record, states are made that a loss of
power may leave: what was synced is there; of the rest, writes are there, are not, or are there in part, and new names
are there or not. files, memory: commands run with one call to the file system, or one allocation, that fails; they
fail if and only if their change is not made. In every state, before anything is put right, the index is checked, and all
changes that were acknowledged must be there, and the one that was interrupted as a whole or not at all. SHARE of the
moments are tried (1: all). KIND is what the index holds: documents, sets, minhash, rows.
"""
import json
import os
import random
import shutil
import subprocess
import sys

from kinds_of_index import facts, kind_of_index

program, kind = sys.argv[1], sys.argv[2]
share = float(sys.argv[3]) if len(sys.argv) > 3 else 1
content = sys.argv[4] if len(sys.argv) > 4 else "documents"
world = kind_of_index(program, content)
dice = random.Random(7)
here = os.path.dirname(os.path.abspath(__file__))
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
base = os.path.abspath("I")

# Commands, what they are given, and what the index holds afterwards. For things to add, a command has "-".
steps_of_documents = [
    (["add", "I", "-"], [("a", 0)], {"first": 0, "a": 0}),
    (["add", "I", "-"], [("b", 0), ("c", 0), ("d", 0)], {"first": 0, "a": 0, "b": 0, "c": 0, "d": 0}),
    (["add", "I", "-", "--upsert"], [("b", 1), ("e", 0)], {"first": 0, "a": 0, "b": 1, "c": 0, "d": 0, "e": 0}),
    (["remove", "I", "c", "first", "--wait", "1"], [], {"a": 0, "b": 1, "d": 0, "e": 0}),
    (["add", "I", "-", "--unless-similar", "0.9"], [("f", 0), ("twin", "a", 0), ("g", 0), ("copy", "g", 0)],
     {"a": 0, "b": 1, "d": 0, "e": 0, "f": 0, "g": 0}),
    (["compact", "I"], [], {"a": 0, "b": 1, "d": 0, "e": 0, "f": 0, "g": 0}),
    (["add", "I", "-"], [("h", 0)], {"a": 0, "b": 1, "d": 0, "e": 0, "f": 0, "g": 0, "h": 0})]
steps_of_rows = [
    (["add", "I", "-"], [("a", 0)], {"first": 0, "a": 0}),
    (["add", "I", "-"], [("b", 0), ("c", 0), ("d", 0)], {"first": 0, "a": 0, "b": 0, "c": 0, "d": 0}),
    (["remove", "I", "3", "0"], [], {"a": 0, "b": 0, "d": 0}),
    (["compact", "I"], [], {"a": 0, "b": 0, "d": 0}),
    (["add", "I", "-"], [("e", 0)], {"a": 0, "b": 0, "d": 0, "e": 0})]
steps = steps_of_rows if content == "rows" else steps_of_documents
everything = sorted({(name, version) for _, _, holds in steps for name, version in holds.items()} | {("first", 0)})


def run(words, things, **environment):
    path, given = world.given(things, os.path.abspath("given.npy"))
    return subprocess.run([program, "index", *(path if word == "-" else word for word in words), "--quiet"], input=given,
                          env={**os.environ, **environment}, **quiet, check=False)


def is_compact(folder):
    known = facts(program, folder)
    return known["segments"] == 1 and known["removed"] == known["pending"] == 0


def held(folder):
    """What an index holds: fails if it is damaged, or counts other than it holds."""
    looked = subprocess.run([program, "index", "check", folder], capture_output=True, check=False)
    assert looked.returncode == 0, looked.stderr.decode()
    there = world.found(folder, everything)
    holds = {name: version for name, version in there}
    assert len(there) == len(holds), f"two versions of one thing: {sorted(there)}"
    assert facts(program, folder)["rows"] == len(there), "rows that nothing finds"
    return holds


class Disk:
    """Files with what was synced, and what came later in order."""

    def __init__(self, folder):
        self.files = {}  # number of a file: [synced bytes, later writes]
        self.names = {}  # as they are now
        self.synced_names = {}
        self.later_names = []
        self.next = 0
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                self.files[self.next] = [file.read(), []]
            self.names[name] = self.synced_names[name] = self.next
            self.next += 1

    @staticmethod
    def changed(content, change):
        what, at, data = change
        if what == "cut":
            return content[:at].ljust(at, b"\0")
        return content.ljust(at, b"\0")[:at] + data + content[at + len(data):]

    def call(self, what, name, other, number, data):
        if what == "create":
            self.files[self.next] = [b"", []]
            self.names[name] = self.next
            self.later_names.append((name, self.next))
            self.next += 1
        elif what in ("write", "cut"):
            self.files[self.names[name]][1].append((what, number, data))
        elif what == "rename":
            self.names[other] = self.names.pop(name)
            self.later_names.append((name, None, other, self.names[other]))
        elif what == "unlink":
            del self.names[name]
            self.later_names.append((name, None))
        elif name == ".":
            self.synced_names = dict(self.names)
            self.later_names = []
        elif what == "sync":
            file = self.files[self.names[name]]
            for change in file[1]:
                file[0] = self.changed(file[0], change)
            file[1] = []

    def after_loss(self, folder, mode):
        """Writes a state to a folder: mode 0 loses all that was not synced, 1 nothing, 2 some of it."""
        names = dict(self.synced_names)
        for change in self.later_names:
            if mode == 1 or (mode == 2 and dice.random() < 0.5):
                for name, number in zip(change[::2], change[1::2]):
                    if number is None:
                        names.pop(name, None)
                    else:
                        names[name] = number
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name, number in names.items():
            content, later = self.files[number]
            for change in later:
                if mode == 1 or (mode == 2 and dice.random() < 0.5):
                    what, at, data = change
                    if mode == 2 and what == "write" and len(data) > 1 and dice.random() < 0.7:
                        start = dice.randrange(len(data))  # torn: one piece is there, the rest is zeros
                        data = b"\0" * start + data[start:] if dice.random() < 0.5 else data[:start]
                    content = self.changed(content, (what, at, data))
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


def lose_power(interposer):
    disk = Disk(base)
    before, states = {"first": 0}, 0
    for words, given, after in steps:
        record = os.path.abspath("record")
        open(record, "w", encoding="utf-8").close()
        done = run(words, given, LD_PRELOAD=interposer, FAULTS_FOLDER=base, FAULTS_RECORD=record)
        assert done.returncode == 0, done.stderr.decode()
        with open(record, encoding="utf-8") as file:
            calls = [json.loads(line) for line in file]
        assert any(call[0] == "sync" for call in calls)
        for place, (what, name, other, number, data) in enumerate(calls):
            disk.call(what, name, other, number, bytes.fromhex(data))
            is_last = place + 1 == len(calls)
            for mode in (0, 1, 2, 2):
                if not is_last and dice.random() > share:
                    continue
                disk.after_loss("J", mode)
                holds, states = held("J"), states + 1
                assert holds == after or (holds == before and not is_last), \
                    f"{words}, call {place + 1} of {len(calls)} ({what} {name}), mode {mode}: {holds}"
        before = after
    print(f"power was lost in {'many' if states > 20 else 'few'} states: every acknowledged change is there, none in part")


def fail_calls(interposer, memory):
    before, failures = {"first": 0}, 0
    for words, given, after in steps:
        shutil.copytree(base, "saved")
        count = os.path.abspath("count")
        done = run(words, given, LD_PRELOAD=interposer, FAULTS_FOLDER=base, FAULTS_COUNT=count)
        assert done.returncode == 0, done.stderr.decode()
        with open(count, encoding="utf-8") as file:
            numbers = file.read().split()
        for call in range(1, int(numbers[memory]) + 1):
            if dice.random() > share:
                continue
            shutil.rmtree(base)
            shutil.copytree("saved", base)
            fault = {"FAULTS_MEMORY" if memory else "FAULTS_FILE": str(call)}
            done = run(words, given, LD_PRELOAD=interposer, FAULTS_FOLDER=base, **fault)
            assert done.returncode >= 0, f"{words}: signal {-done.returncode} at call {call}"
            holds, failures = held("I"), failures + (done.returncode != 0)
            # With --unless-similar the documents before a failure may be there; the command can be repeated.
            in_part = "--unless-similar" in words and done.returncode != 0
            if in_part:
                assert before.items() <= holds.items() <= after.items(), f"{words}, call {call}: {holds}"
                assert run(words, given).returncode == 0
                holds = held("I")
            assert holds == after or (holds == before and done.returncode != 0), f"{words}, call {call}: {holds}"
            is_done = holds == after if before != after else is_compact("I")
            unknown = b"cannot sync" in done.stderr  # the change is there, and may not outlive a loss of power
            unknown |= memory and words[0] == "remove"  # the number of removed rows is lost
            assert is_done == (done.returncode == 0) or unknown or in_part, \
                f"{words}, call {call}: exit {done.returncode}, {facts(program, 'I')}: {done.stderr.decode()}"
        shutil.rmtree(base)
        shutil.copytree("saved", base)
        shutil.rmtree("saved")
        assert run(words, given).returncode == 0
        before = after
    assert failures
    print(f"{'allocations' if memory else 'calls'} failed: every acknowledged change is there, none in part")


subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", "faults.so", os.path.join(here, "file_faults.c"), "-ldl"],
               check=True)
world.build("I", [("first", 0)])
preload = os.path.abspath("faults.so")
if kind == "power":
    lose_power(preload)
else:
    fail_calls(preload, kind == "memory")
