#!/usr/bin/env python3
"""Calls every public function that returns a status with NULL for each pointer and 0 for each number: it must return
COG_ERR_USAGE.
usage: tests/api_nulls.py BUILD"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DECLARATION = re.compile(r'visibility\("default"\)\)\) cog_status (\w+)\(([^;]*?)\);')
PROGRAM = """
#include <cognate.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own, so that a crash is one line. */
#define CHECK(call) \\
    do { \\
        int status = 0; \\
        pid_t child = fork(); \\
        if (child == 0) \\
            _exit((call) != COG_ERR_USAGE); \\
        if (waitpid(child, &status, 0) != child || status != 0) \\
            printf("FAIL %s: %s\\n", #call, WIFSIGNALED(status) ? "crash" : "accepted"); \\
    } while (0)

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
"""


def argument(declared):
    """NULL or 0, by the declaration of a parameter."""
    return "NULL" if re.search(r"[*\[]|cog_live_matched", declared) else "0"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    header = subprocess.run(["gcc", "-E", "-P", ROOT / "include/cognate.h"], capture_output=True, text=True, check=True).stdout
    functions = DECLARATION.findall(" ".join(header.split()))
    calls = [f"    CHECK({name}({', '.join(argument(a) for a in arguments.split(','))}));\n" for name, arguments in functions]
    with tempfile.TemporaryDirectory() as scratch:
        source, program = pathlib.Path(scratch, "nulls.c"), pathlib.Path(scratch, "nulls")
        source.write_text(PROGRAM + "".join(calls) + "}\n")
        subprocess.run(["gcc", "-w", f"-I{ROOT / 'include'}", source, "-o", program, f"-L{build}", "-lcognate",
                        f"-Wl,-rpath,{build}"], check=True)
        failures = subprocess.run([program], cwd=scratch, capture_output=True, text=True, check=True).stdout.splitlines()
    print("\n".join([*failures, f"{len(calls) - len(failures)} passed, {len(failures)} failed"]))
    sys.exit(bool(failures) or len(calls) < 100)


if __name__ == "__main__":
    main()
