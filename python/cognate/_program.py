"""The program `cognate` of the package: the C program, with Parquet files and datasets on disk on top.

Parquet comes in by way of JSON lines with the columns that the command needs, under their own names. `dedup` reads them
from a pipe and the kept rows are copied from the Parquet files; other commands, and the references of `dedup --against`,
get a scratch file per input. Which options take a value is read from the program's own help.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ._inputs import import_pyarrow, is_arrow_path, read_arrow_paths

if TYPE_CHECKING:
    import pyarrow

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cognate-program")
FIELDS = ("text", "id", "lang")
ROW = "row of cognate"  # the first key of a line: no column is likely to have this name


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["spark"]:
        from .spark import _program
        return _program.main(arguments[1:])
    if not any(is_arrow_path(argument) for argument in arguments if not argument.startswith("-")):
        os.execv(PROGRAM, [PROGRAM, *arguments])
    try:
        command = _parse(arguments)
        with tempfile.TemporaryDirectory(prefix="cognate-") as folder:
            if arguments[0] == "dedup" and any(is_arrow_path(path) for path in command.inputs):
                return _dedup(command, folder)
            return subprocess.call([PROGRAM, *_converted(command.words, command, folder)])
    except (ImportError, OSError, ValueError) as error:
        print(f"cognate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


# ---- Arguments -------------------------------------------------------------------------------------------------------

class Word(NamedTuple):
    """An argument, and the option whose value it is; "" for the command's own inputs, None for an option."""
    text: str
    option: str | None


class Command(NamedTuple):
    words: list[Word]

    @property
    def inputs(self) -> list[str]:
        return [word.text for word in self.words[1:] if word.option == ""]

    def value(self, option: str) -> str | None:
        return next((word.text for word in self.words if word.option == option), None)

    def fields(self) -> dict[str, str]:
        """The columns of text, id and language."""
        return {name: self.value(f"--{name}-field") or name for name in FIELDS}

    def without(self, *options: str) -> list[Word]:
        return [word for word in self.words if word.option not in options and word.text not in options]


def _options_with_values(command: list[str]) -> dict[str, str]:
    """The options of a command that take a value: maps both spellings to the long one. Read from its help."""
    text = subprocess.run([PROGRAM, *command, "--help-all"], stdout=subprocess.PIPE, check=False).stdout.decode()
    found = re.findall(r"^ +(?:(-\w), )?(--[\w-]+) [^ ]", text, re.MULTILINE)
    return {name: long for short, long in found for name in (short, long) if name}


def _parse(arguments: list[str]) -> Command:
    actions = 2 if arguments[0] in ("index", "lexicon", "eval") else 1
    known = _options_with_values(arguments[:actions])
    words, option, is_list = [Word(text, "") for text in arguments[:actions]], "", False
    for argument in arguments[actions:]:
        name, equals, value = argument.partition("=")
        if option and not is_list:
            words.append(Word(argument, option))
            option = ""
        elif not argument.startswith("-") or argument == "-":
            words.append(Word(argument, option))
        else:
            glued = known.get(argument[:2]) if not argument.startswith("--") and len(argument) > 2 else None
            option = glued or known.get(name, "")
            words.append(Word(option or argument, None))
            if glued or (option and equals):
                words.append(Word(argument[2:] if glued else value, option))
                option = ""
            is_list = option in ("--against", "--from", "--to") and arguments[0] != "lexicon"
    return Command(words)


# ---- Rows as JSON lines ----------------------------------------------------------------------------------------------

def _needed(names: list[str], wanted: list[str]) -> list[str]:
    """The columns that hold these fields: the column of that name, or of the first part of a path."""
    held = (field if field in names else field.split(".")[0] for field in wanted)
    return list(dict.fromkeys(column for column in held if column in names))


def _json_value(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _check_columns(names: list[str], fields: dict[str, str], name: str) -> None:
    if not _needed(names, [fields["text"]]):
        raise ValueError(f"{name}: no column {fields['text']!r}; there are {', '.join(names)}: name the column that "
                         "has the texts with --text-field")


def _records(reader: pyarrow.RecordBatchReader, fields: dict[str, str], more: list[str], name: str) -> Iterator[bytes]:
    """Rows as JSON lines; ids that are missing are name:row. The program counts and names rows without text."""
    names = reader.schema.names
    _check_columns(names, fields, name)
    columns = _needed(names, [*fields.values(), *more])
    key = fields["id"]
    row = 0
    for batch in reader:
        lists = {column: batch.column(names.index(column)).to_pylist() for column in columns}
        for i in range(batch.num_rows):
            values: dict[str, Any] = {ROW: row}
            values.update({column: cells[i] for column, cells in lists.items() if cells[i] is not None})
            if key in names or not _needed(names, [key]):
                values[key] = _json_value(values[key]) if key in values else f"{name}:{row + 1}"
            yield json.dumps(values, ensure_ascii=False, default=_json_value).encode("utf-8", "replace") + b"\n"
            row += 1


def _number(value: Any) -> str:
    """Digits without an exponent; nothing for null."""
    import numpy
    return "" if value is None else numpy.format_float_positional(value) if isinstance(value, float) else str(value)


def _clicks(reader: pyarrow.RecordBatchReader, name: str) -> Iterator[bytes]:
    """The rows of a query log as lines of query, url and clicks; a tab or a line break becomes a space."""
    names = [column.lower() for column in reader.schema.names]
    wanted = ["query", "url" if "url" in names else "clickurl", *(["clicks"] if "clicks" in names else [])]
    if not set(wanted) <= set(names):
        raise ValueError(f"{name}: a query log has the columns query, url and clicks, or AOL's Query and ClickURL; there are "
                         f"{', '.join(reader.schema.names)}")
    for batch in reader:
        columns = [batch.column(names.index(column)).to_pylist() for column in wanted]
        for query, url, *clicks in zip(*columns):
            fields = (query or "", url or "", _number(clicks[0]) if clicks and url else "1")
            yield ("\t".join(re.sub("[\t\r\n]", " ", str(field)) for field in fields) + "\n").encode("utf-8", "replace")


def _converted(words: list[Word], command: Command, folder: str) -> list[str]:
    """The arguments, with scratch files of JSON lines, or of clicks, in place of Parquet inputs."""
    result = []
    for i, (text, option) in enumerate(words):
        if option in ("", "--against", "--from", "--to") and is_arrow_path(text):
            name = os.path.basename(text.rstrip("/"))
            path = os.path.join(folder, f"{i}-{name}.jsonl")
            reader = _open([text])
            with open(path, "wb") as file:
                file.writelines(_clicks(reader, name) if words[0].text == "related" else
                                _records(reader, command.fields(), [], name))
            text = path
        result.append(text)
    return result


def _open(paths: list[str]) -> pyarrow.RecordBatchReader:
    library = import_pyarrow()
    try:
        return read_arrow_paths(paths)
    except (library.ArrowException, OSError) as error:
        raise ValueError(f"{', '.join(paths)}: cannot read: {error}") from None


# ---- dedup -----------------------------------------------------------------------------------------------------------

def _dedup(command: Command, folder: str) -> int:
    """Feeds the program through a pipe and copies the rows that it keeps."""
    inputs, output, fields = command.inputs, command.value("--output"), command.fields()
    keep = (command.value("--keep") or "").split(":")
    more = [keep[1]] if keep[0] == "field" and len(keep) > 1 else []
    _check_dedup(command, inputs, output)
    reader, name = _open(inputs), os.path.basename(inputs[0])
    _check_columns(reader.schema.names, fields, name)
    rest = _converted([word for word in command.without("--output", "-o")[1:] if word.option != ""], command, folder)
    end, pipe = os.pipe()
    into = ["-o", f"/dev/fd/{pipe}"] if output is not None else []
    arguments = [PROGRAM, "dedup", "-", "--input-format", "jsonl", *into, *rest]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, pass_fds=[pipe]) as process:
        os.close(pipe)
        assert process.stdin
        failures: list[BaseException] = []
        lines = _records(reader, fields, more, name)
        feeder = threading.Thread(target=_feed, args=(process.stdin, lines, failures))
        feeder.start()
        begin = len(f'{{"{ROW}": ')
        with os.fdopen(end, "rb") as kept_lines:
            kept = [int(line[begin:line.index(b",")]) for line in kept_lines]
        feeder.join()
    if failures:
        raise failures[0]
    if process.returncode == 0 and output is not None:
        _copy_rows(_outputs(inputs, output), kept)
    return process.returncode


def _check_dedup(command: Command, inputs: list[str], output: str | None) -> None:
    if not all(is_arrow_path(path) for path in inputs):
        raise ValueError("Parquet and other files do not mix in one call")
    if command.value("--mark") is not None:
        raise ValueError("rows of Parquet files take no marks: ask for the clusters instead (--mark)")
    if command.value("--rejects") is not None:
        raise ValueError("rows of Parquet files are no records to write: leave it out (--rejects)")
    if command.value("--work") is not None:
        raise ValueError("rows of Parquet files come through a pipe, and a work folder needs files that can be read again: "
                         "leave it out, or give JSON lines (--work)")
    if output is None:
        return
    if not _is_folder(output) and not output.endswith((".parquet", ".pq")):
        raise ValueError(f"{output}: kept rows of Parquet files go to a file whose name ends in .parquet, or to a folder")
    outputs = [path for path, _ in _outputs(inputs, output)]
    for path in outputs:
        if os.path.exists(path) and any(os.path.samefile(path, other) for other in inputs if os.path.exists(other)):
            raise ValueError(f"--output {path} would overwrite what is read; name another file")
        if _is_folder(output) and os.path.exists(path):
            raise ValueError(f"{path}: exists already; remove it, or name another folder (--output)")
    if len(set(outputs)) < len(outputs):
        raise ValueError(f"{output}: two of the inputs have the same place below this folder")


def _is_folder(output: str) -> bool:
    return output.endswith("/") or os.path.isdir(output)


def _outputs(inputs: list[str], output: str) -> list[tuple[str, list[str]]]:
    """Each output with the inputs whose rows it takes: one output for all, or in a folder one per input."""
    if not _is_folder(output):
        return [(output, inputs)]
    below = ["/".join(part for part in path.split("/") if part not in ("", ".", "..")) for path in inputs]
    return [(os.path.join(output, name if name.endswith((".parquet", ".pq")) else name + ".parquet"), [path])
            for name, path in zip(below, inputs)]


def _feed(pipe: IO[bytes], lines: Iterator[bytes], failures: list[BaseException]) -> None:
    try:
        pipe.writelines(lines)
    except BrokenPipeError:
        pass  # the program has printed why it stopped
    except Exception as error:
        failures.append(error)
    finally:
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


def _copy_rows(outputs: list[tuple[str, list[str]]], kept: list[int]) -> None:
    """Writes these rows with all their columns; the files appear when all of them are complete, or not at all."""
    import numpy
    rows = numpy.array(sorted(kept), numpy.int64)
    temporaries: list[tuple[str, str]] = []
    first = 0
    try:
        for output, inputs in outputs:
            os.makedirs(os.path.dirname(output) or ".", exist_ok=True)
            temporaries.append((f"{output}.{os.getpid()}.tmp", output))
            first = _copy_file(inputs, rows, first, temporaries[-1][0])
        for temporary, output in temporaries:
            os.replace(temporary, output)
    finally:
        for temporary, _ in temporaries:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


def _copy_file(inputs: list[str], rows: Any, first: int, path: str) -> int:
    """Copies the rows that these inputs hold. `first` is the number of their first row; returns the number after their last."""
    import numpy
    import pyarrow
    import pyarrow.parquet
    reader = read_arrow_paths(inputs)
    with pyarrow.parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            begin, end = numpy.searchsorted(rows, [first, first + batch.num_rows])
            writer.write_batch(batch.take(pyarrow.array(rows[begin:end] - first)))
            first += batch.num_rows
    return first


if __name__ == "__main__":
    sys.exit(main())
