"""Kills processes that change an index, at random moments, and looks for what is missing, doubled or half there.

usage: index_kills.py PROGRAM KILLS WRITERS [KIND]

Each writer adds, replaces and removes things of one kind (documents, sets, minhash, rows), one command each. Before the
next change, and so before anything is put right, the index is checked (every byte, and each id against its table), and
what it holds is compared with what was acknowledged: a change whose command ended well must be there, one whose command
was killed may be there or not, as a whole.
"""
import os
import random
import signal
import subprocess
import sys
from itertools import count as numbers

from kinds_of_index import facts, kind_of_index

program, kills, writers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
content = sys.argv[4] if len(sys.argv) > 4 else "documents"
world = kind_of_index(program, content)
dice = random.Random(kills * 100 + writers)
sure: dict[str, int] = {}  # name: version of its content
ids: dict[tuple[str, int], str] = {}
made = 0
files = numbers()


def run(*words: str, things: list[tuple[str, int]] | None = None) -> subprocess.Popen:
    path, given = world.given(things or [], os.path.abspath(f"given{next(files) % writers}.npy"))
    process = subprocess.Popen([program, "index", *(path if word == "-" else word for word in words)],
                               stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.stdin.write(given)
    process.stdin.close()
    return process


def change() -> tuple[subprocess.Popen, dict[str, int | None]]:
    """Starts a change of a few documents that no other running change touches; returns what it makes of each."""
    global made
    kind = dice.randrange(11)
    free = [name for name in sure if name not in busy]
    if kind == 0 and free:
        name = dice.choice(free)
        return run("remove", "I", ids[name, sure[name]], "--wait", "60"), {name: None}
    if kind == 1 and free and content != "rows":
        name = dice.choice(free)
        after = {name: sure[name] + 1}
        return run("add", "I", "-", "--upsert", "--wait", "60", things=list(after.items())), after
    if kind == 2:
        return run("compact", "I"), {}
    count = dice.choice([1, 1, 1, 3, 40])
    after = {f"d{made + i}": 0 for i in range(count)}
    made += count
    things = list(after.items())
    if kind == 3 and free and content != "rows":
        name = dice.choice(free)
        busy.add(name)
        things = [("twin", name, sure[name]), *things, ("copy", *things[0])]
        return run("add", "I", "-", "--unless-similar", "0.9", "--wait", "60", things=things), after
    return run("add", "I", "-", "--wait", "60", things=things), after


def check(unsure: list[dict[str, int | None]]) -> None:
    """Compares with what is sure; changes that were killed are there as a whole or not at all."""
    looked = subprocess.run([program, "index", "check", "I"], capture_output=True, check=False)
    assert looked.returncode == 0, looked.stderr.decode()
    asked = {(name, version) for name, version in sure.items()}
    for after in unsure:
        asked |= {(name, version) for name, version in after.items() if version is not None}
    found = world.found("I", sorted(asked))
    there = set(found)
    ids.update(found)
    for after in unsure:
        if not after:
            continue
        states = set()
        for name, version in after.items():
            if version is None:
                states.add((name, sure[name]) not in there)
            else:
                states.add((name, version) in there)
        assert len(states) == 1, f"half a change is there: {after}"
        if states.pop():
            for name, version in after.items():
                if version is None:
                    del sure[name]
                else:
                    sure[name] = version
    assert there == set(sure.items()), f"missing {set(sure.items()) - there}, too many {there - set(sure.items())}"
    rows = facts(program, "I")["rows"]
    assert rows == len(sure), f"{rows} rows for {len(sure)} that are sure"


sure["d0"] = 0
made = 1
world.build("I", [("d0", 0)])
ids["d0", 0] = "0" if content == "rows" else "d0"
killed = 0
ended_early = 0
while killed < kills:
    busy: set[str] = set()
    running = []
    for _ in range(writers):
        process, after = change()
        busy |= set(after)
        running.append((process, after))
    # Commands take some tens of milliseconds: the kill hits the reading, the writing, or comes too late.
    try:
        running[0][0].wait(timeout=dice.random() * dice.choice([0.02, 0.06, 0.3]))
    except subprocess.TimeoutExpired:
        pass
    unsure = []
    for process, after in running:
        if process.poll() is None and dice.random() < 0.8:
            process.send_signal(signal.SIGKILL)
    for process, after in running:
        status = process.wait()
        if status == -signal.SIGKILL:
            killed += 1
            unsure.append(after)
        elif status == 0:
            for name, version in after.items():
                if version is None:
                    del sure[name]
                else:
                    sure[name] = version
        else:
            ended_early += 1
            assert status in (1, 3), f"exit status {status}"  # another one had the lock
    check(unsure)
leftovers = [name for name in os.listdir("I") if ".tmp." in name]
subprocess.run([program, "index", "compact", "I", "--quiet"], check=True)
check([])
assert not [name for name in os.listdir("I") if ".tmp." in name], leftovers
print(f"{kills} kills with {writers} writer{'s'[:writers - 1]}, {content}: nothing missing, doubled or half there")
