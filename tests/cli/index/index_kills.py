"""Kills processes that change an index, at random moments, and looks for what is missing, doubled or half there.

usage: index_kills.py PROGRAM KILLS WRITERS

Each writer adds, replaces and removes documents, one command each. Before the next change, and so before anything is
put right, the index is checked (every byte, and each id against its table), and what it holds is compared with what was
acknowledged: a change whose command ended well must be there, one whose command was killed may be there or not, as a
whole.
"""
import json
import os
import random
import signal
import subprocess
import sys

program, kills, writers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(kills * 100 + writers)
sure: dict[str, int] = {}  # id: version of its text
made = 0


def text(name: str, version: int) -> str:
    return " ".join(f"{name}x{word}v{version}" for word in range(12))


def run(*words: str, lines: list[tuple[str, int]] | None = None) -> subprocess.Popen:
    body = "".join(json.dumps({"id": name, "text": text(name, version)}) + "\n" for name, version in lines or [])
    process = subprocess.Popen([program, "index", *words], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(body.encode())
    process.stdin.close()
    return process


def change() -> tuple[subprocess.Popen, dict[str, int | None]]:
    """Starts a change of a few documents that no other running change touches; returns what it makes of each."""
    global made
    kind = dice.randrange(10)
    free = [name for name in sure if name not in busy]
    if kind == 0 and free:
        name = dice.choice(free)
        return run("remove", "I", name), {name: None}
    if kind == 1 and free:
        name = dice.choice(free)
        after = {name: sure[name] + 1}
        return run("add", "I", "-", "--upsert", "--wait", "60", lines=list(after.items())), after
    if kind == 2:
        return run("compact", "I"), {}
    count = dice.choice([1, 1, 1, 3, 40])
    after = {f"d{made + i}": 0 for i in range(count)}
    made += count
    return run("add", "I", "-", "--wait", "60", lines=list(after.items())), after


def present(names: list[tuple[str, int]]) -> set[tuple[str, int]]:
    queries = "".join(json.dumps({"id": f"{name}/{version}", "text": text(name, version)}) + "\n"
                      for name, version in names)
    answer = subprocess.run([program, "search", "I", "-", "--format", "jsonl", "-k", "1", "--quiet"],
                            input=queries.encode(), capture_output=True, check=False)
    assert answer.returncode in (0, 1), answer.stderr.decode()
    found = set()
    for line in answer.stdout.splitlines():
        row = json.loads(line)
        name, version = row["query"].split("/")
        if any(hit["id"] == name and hit["similarity"] > 0.99 for hit in row["hits"]):
            found.add((name, int(version)))
    return found


def check(unsure: list[dict[str, int | None]]) -> None:
    """Compares with what is sure; changes that were killed are there as a whole or not at all."""
    looked = subprocess.run([program, "index", "check", "I"], capture_output=True, check=False)
    assert looked.returncode == 0, looked.stderr.decode()
    asked = {(name, version) for name, version in sure.items()}
    for after in unsure:
        asked |= {(name, version) for name, version in after.items() if version is not None}
    there = present(sorted(asked))
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
    info = json.loads(subprocess.run([program, "index", "info", "I", "--json"], capture_output=True, check=True).stdout)
    assert info["rows"] == len(sure), f"{info['rows']} rows for {len(sure)} documents"


first = {"d0": 0}
made = 1
with open("first.jsonl", "w", encoding="utf-8") as file:
    file.write(json.dumps({"id": "d0", "text": text("d0", 0)}) + "\n")
subprocess.run([program, "index", "build", "I", "first.jsonl", "--quiet"], check=True)
sure.update(first)
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
print(f"{kills} kills with {writers} writer{'s'[:writers - 1]}: nothing missing, doubled or half there")
