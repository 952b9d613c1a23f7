"""How jobs run: threads, progress, stopping, the interpreter lock, memory."""
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import cognate
from conftest import make_texts


def python(code, **options):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def test_jobs_on_several_threads(texts):
    expected = [cognate.dedup(texts[i:i + 300]).kept.tolist() for i in range(6)]
    found = [None] * 6

    def work(i):
        found[i] = cognate.dedup(texts[i:i + 300], threads=2).kept.tolist()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_results_do_not_depend_on_threads(texts):
    tables = [list(cognate.pairs(texts, threads=threads, threshold=0.5).rows()) for threads in (1, 2, 5)]
    assert tables[0] == tables[1] == tables[2] != []


def test_the_interpreter_lock_is_released():
    """Another thread goes on while a job runs."""
    texts, counted, done = make_texts(4000), [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before, start = counted[0], time.monotonic()
    cognate.dedup(texts, threads=1)
    seconds, during = time.monotonic() - start, counted[0] - before
    done.set()
    thread.join()
    assert during > min(20, seconds * 10)


def test_progress():
    seen = []
    cognate.dedup(make_texts(20000, words=30), progress=lambda *state: seen.append(state), threads=1)
    assert seen and all(isinstance(stage, str) and 0 <= done <= total and total > 0 for stage, done, total in seen)
    assert {stage for stage, _, _ in seen} <= {"reading", "counting", "sorting", "joining", "working"}
    cognate.dedup(["a", "b"], progress=True)


def test_jobs_report_their_own_memory():
    """A small job behind a large one, and next to it, has a small peak."""
    few, many, peaks = make_texts(300), make_texts(40000), {}

    def work(name, texts):
        peaks[name] = cognate.dedup(texts, threads=1).report["peak_memory_bytes"]

    threads = [threading.Thread(target=work, args=case) for case in (("many", many), ("beside", few))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work("behind", few)
    assert peaks["many"] > 2 * peaks["beside"] and abs(peaks["beside"] - peaks["behind"]) < 2 << 20


def test_a_callback_that_raises_stops_the_job():
    def stop(stage, done, total):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        cognate.dedup(make_texts(20000, words=30), progress=stop, threads=1)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_callback_that_raises_at_the_end_leaks_nothing():
    """The work is done by then: its result is freed. Ten times 14 MB of pairs."""
    def stop(stage, done, total):
        raise RuntimeError("enough")

    def refused(times):
        for _ in range(times):
            with pytest.raises(RuntimeError, match="enough"):
                cognate.pairs(["the same text for all of them"] * 1000, measure="jaccard", progress=stop, threads=1)
    refused(2)
    before = resident_bytes()
    refused(10)
    assert resident_bytes() - before < 70 << 20


def test_control_c():
    code = """
        import sys, time
        sys.path.insert(0, {tests!r})
        from conftest import make_texts
        import cognate
        texts = make_texts(3000)
        texts = texts * 40
        print("ready", flush=True)
        try:
            while True:
                cognate.pairs(texts, method="flat", bits=4096, threads=1)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """.replace("{tests!r}", repr(__file__.rpartition("/")[0]))
    process = python(code)
    assert process.stdout.readline() == "ready\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    output, errors = process.communicate(timeout=120)
    assert output == "stopped\n" and process.returncode == 0, errors
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "list"])
def test_the_text_is_not_copied(kind):
    """Peak memory while 200 MB of text are signed: the text is there once."""
    code = f"""
        import resource
        import pyarrow as pa
        import cognate
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        block = " ".join(f"word{{i % 977}}" for i in range(2000))
        if {kind!r} == "list":
            texts = [block + str(i) for i in range(12000)]
        else:
            texts = pa.concat_arrays([pa.array([block + str(i) for i in range(600)], pa.{'string' if kind == 'list' else kind}())] * 20)
        cognate.sign(["warm up"], threads=2)
        before = peak()
        assert cognate.sign(texts, "simhash", 64, threads=2).shape == (12000, 8)
        print(round(peak() - before))
    """
    process = python(code)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert int(output) < 60, f"{output} MB more than the text"
