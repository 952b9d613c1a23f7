"""The program `cognate` of the package: the C program, with Parquet files and datasets on disk on top.

Parquet comes in by way of JSON lines. `dedup` reads them from a pipe and the kept rows are copied from the Parquet
files; other commands get a scratch file per input.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from ._inputs import is_arrow_path, read_arrow_paths

if TYPE_CHECKING:
    import pyarrow

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cognate-program")
FIELDS = {"--text-field": "text", "--id-field": "id", "--lang-field": "lang"}


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["spark"]:
        from .spark import _program
        return _program.main(arguments[1:])
    if not any(is_arrow_path(argument) for argument in arguments if not argument.startswith("-")):
        os.execv(PROGRAM, [PROGRAM, *arguments])
    try:
        return _dedup(arguments[1:]) if arguments[0] == "dedup" else _converted(arguments)
    except (ImportError, OSError, ValueError) as error:
        print(f"cognate: {error}", file=sys.stderr)
        return 2


def _take(arguments: list[str], *names: str) -> str | None:
    """Takes an option with its value out of the arguments."""
    for i, argument in enumerate(arguments):
        if argument in names and i + 1 < len(arguments):
            value = arguments[i + 1]
            del arguments[i:i + 2]
            return value
        name, equals, value = argument.partition("=")
        if equals and name in names:
            del arguments[i]
            return value
    return None


def _fields(arguments: list[str]) -> dict[str, str]:
    return {usual: _take(arguments, option) or usual for option, usual in FIELDS.items()}


def _records(reader: pyarrow.RecordBatchReader, fields: dict[str, str], name: str) -> Iterator[tuple[int, bytes]]:
    """Rows as JSON lines; rows without text are left out, and ids that are missing are name:row."""
    names = reader.schema.names
    if fields["text"] not in names:
        raise ValueError(f"{name}: no column {fields['text']!r}; there are {', '.join(names)}: name the column that "
                         "has the texts with --text-field")
    row = 0
    for batch in reader:
        columns = {key: batch.column(names.index(column)).to_pylist() for key, column in fields.items()
                   if column in names}
        for i in range(batch.num_rows):
            values: dict[str, Any] = {"row": row}
            values.update({key: column[i] for key, column in columns.items() if column[i] is not None})
            values["id"] = str(values.get("id", f"{name}:{row + 1}"))
            if "text" in values:
                yield row, json.dumps(values, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
            row += 1


def _dedup(arguments: list[str]) -> int:
    """Feeds the program through a pipe, and copies the rows that it keeps."""
    import pyarrow
    import pyarrow.parquet
    fields, output = _fields(arguments), _take(arguments, "-o", "--output")
    inputs = [argument for argument in arguments if not argument.startswith("-") and is_arrow_path(argument)]
    rest = [argument for argument in arguments if argument not in inputs]
    if output is not None and not output.endswith((".parquet", ".pq")):
        raise ValueError(f"{output}: kept rows of Parquet files go to a file whose name ends in .parquet")
    command = [PROGRAM, "dedup", "-", "--input-format", "jsonl", *rest]
    command += ["-o", "-"] if output is not None else []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        failures: list[BaseException] = []
        feeder = threading.Thread(target=_feed, args=(process.stdin, inputs, fields, failures))
        feeder.start()
        kept = [int(line[7:line.index(b",")]) for line in process.stdout]
        feeder.join()
    if failures:
        raise failures[0]
    if process.returncode == 0 and output is not None:
        _copy_rows(inputs, kept, output)
    return process.returncode


def _feed(pipe: IO[bytes], inputs: list[str], fields: dict[str, str], failures: list[BaseException]) -> None:
    try:
        for _, line in _records(read_arrow_paths(inputs), fields, os.path.basename(inputs[0])):
            pipe.write(line)
        pipe.close()
    except BrokenPipeError:
        pass  # the program has said why it stopped
    except Exception as error:
        failures.append(error)
        pipe.close()


def _copy_rows(inputs: list[str], kept: list[int], output: str) -> None:
    """Writes these rows, with all their columns; the file appears whole or not at all."""
    import numpy
    import pyarrow
    import pyarrow.parquet
    rows = numpy.array(sorted(kept), numpy.int64)
    reader = read_arrow_paths(inputs)
    temporary = f"{output}.{os.getpid()}.tmp"
    first = 0
    try:
        with pyarrow.parquet.ParquetWriter(temporary, reader.schema) as writer:
            for batch in reader:
                begin, end = numpy.searchsorted(rows, [first, first + batch.num_rows])
                writer.write_batch(batch.take(pyarrow.array(rows[begin:end] - first)))
                first += batch.num_rows
        os.replace(temporary, output)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _converted(arguments: list[str]) -> int:
    """Any other command, with JSON lines in place of Parquet."""
    fields = _fields(arguments)
    with tempfile.TemporaryDirectory(prefix="cognate-") as folder:
        for i, argument in enumerate(arguments):
            if argument.startswith("-") or not is_arrow_path(argument):
                continue
            name = os.path.basename(argument.rstrip("/"))
            path = os.path.join(folder, f"{i}-{name}.jsonl")
            with open(path, "wb") as file:
                file.writelines(line for _, line in _records(read_arrow_paths([argument]), fields, name))
            arguments[i] = path
        return subprocess.call([PROGRAM, *arguments])


if __name__ == "__main__":
    sys.exit(main())
