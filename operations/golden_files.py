"""Golden questions in files: JSON Lines, CSV and YAML, read and written."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from runtime.errors import InvalidInput

FIELDS = ("id", "question", "mode", "facts", "documents", "unanswerable", "note")
"""Fields of a question in a file, and the columns of a table."""

LISTS = ("facts", "documents")
LIST_SEPARATOR = ";"
"""Stands between the facts, and between the documents, in a cell of a table."""

MAX_FILE = 8 * 1024 * 1024
"""Bytes of a file of golden questions."""

TRUE_WORDS = frozenset({"true", "yes", "1", "x"})
FALSE_WORDS = frozenset({"", "false", "no", "0"})

FileFormat = Literal["jsonl", "csv", "yaml"]
Fields = dict[str, Any]
Numbered = Iterable[tuple[int, Fields]]


def format_of(path: Path) -> FileFormat:
    """Return the format by the ending of the file's name. Raises InvalidInput for another one."""
    endings: dict[str, FileFormat] = {
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".csv": "csv",
        ".yaml": "yaml",
        ".yml": "yaml",
    }
    if file_format := endings.get(path.suffix.lower()):
        return file_format
    raise InvalidInput(f"{path}: golden questions are in files that end with {', '.join(endings)}")


def read_golden_file(path: Path) -> list[Fields]:
    """Return the questions of a file, as `POST /golden-questions` takes them.

    Raises InvalidInput with each line that cannot be used, and why.
    """
    readers: dict[FileFormat, Callable[[str], Numbered]] = {
        "jsonl": _json_lines,
        "csv": _table_rows,
        "yaml": _yaml_items,
    }
    reader = readers[format_of(path)]
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: {error}") from None
    if len(data) > MAX_FILE:
        raise InvalidInput(f"{path} has {len(data):,} bytes, over {MAX_FILE:,}")
    faults: list[str] = []
    questions: list[Fields] = []
    try:
        for line, fields in reader(text):
            found_faults = faults_of(fields)
            faults += [f"line {line}: {fault}" for fault in found_faults]
            if not found_faults:
                questions.append({name: value for name, value in fields.items() if value})
    except InvalidInput as error:
        faults.append(str(error))
    if faults:
        raise InvalidInput("\n".join([f"{path}: nothing was read", *faults[:50]]))
    if not questions:
        raise InvalidInput(f"{path} holds no question")
    return questions


def faults_of(fields: Fields) -> list[str]:
    """Return what is wrong with the fields of one question."""
    faults = [
        f"{name!r} is no field; there are {', '.join(FIELDS)}"
        for name in fields
        if name not in FIELDS
    ]
    question = fields.get("question")
    if not isinstance(question, str) or not question.strip():
        faults.append("`question` is missing")
    for name in LISTS:
        if not _is_list_of_texts(fields.get(name) or []):
            faults.append(f"`{name}` must be a list of texts")
    if not isinstance(fields.get("unanswerable") or False, bool):
        faults.append("`unanswerable` must be true or false")
    has_evidence = any(fields.get(name) for name in LISTS)
    if fields.get("unanswerable") is True and has_evidence:
        faults.append("an unanswerable question has neither facts nor documents")
    if not fields.get("unanswerable") and not has_evidence:
        faults.append("say what must be found: `facts`, `documents`, or `unanswerable`")
    return faults


def _is_list_of_texts(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, str) and value.strip() for value in cast("list[Any]", values)
    )


def _json_lines(text: str) -> Numbered:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields: Any = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"line {number}: no JSON: {error}") from None
        if not isinstance(fields, dict):
            raise InvalidInput(f"line {number}: each line is a JSON object")
        yield number, cast("Fields", fields)


def _table_rows(text: str) -> Numbered:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if None in row:
                raise InvalidInput(f"line {reader.line_num}: more cells than columns")
            yield reader.line_num, _row_fields(row, reader.line_num)
    except csv.Error as error:
        raise InvalidInput(f"line {reader.line_num}: {error}") from None


def _row_fields(row: dict[str, str | None], line: int) -> Fields:
    fields: Fields = {}
    for name, cell in row.items():
        value = (cell or "").strip()
        if name in LISTS:
            parts = (part.strip() for part in value.split(LIST_SEPARATOR))
            fields[name] = [part for part in parts if part]
        elif name == "unanswerable":
            if value.lower() not in TRUE_WORDS | FALSE_WORDS:
                raise InvalidInput(f"line {line}: `unanswerable` must be true or false")
            fields[name] = value.lower() in TRUE_WORDS
        else:
            fields[name] = value
    return fields


def _yaml_items(text: str) -> Numbered:
    yaml = _yaml()
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        items: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput(f"no YAML: {error}") from None
    if root is None:
        return
    if not isinstance(items, list):
        raise InvalidInput("line 1: the file is a list of questions")
    for node, fields in zip(root.value, cast("list[Any]", items), strict=True):
        line = node.start_mark.line + 1
        if not isinstance(fields, dict):
            raise InvalidInput(f"line {line}: each entry has fields, `question` among them")
        yield line, cast("Fields", fields)


def _yaml() -> Any:
    # Only the services' packages bring it, and few files are YAML.
    try:
        import yaml  # noqa: PLC0415
    except ModuleNotFoundError:
        raise InvalidInput(
            "YAML needs the package pyyaml: install it, or give JSON Lines"
        ) from None
    return yaml


def format_questions(questions: Sequence[Fields], file_format: FileFormat) -> str:
    """Return the text of a file with these questions, which `read_golden_file` reads."""
    rows = [
        {name: question.get(name) for name in FIELDS if question.get(name)}
        for question in questions
    ]
    if file_format == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if file_format == "yaml":
        return _yaml().safe_dump(rows, allow_unicode=True, sort_keys=False)
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, FIELDS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(row.get(name)) for name in FIELDS})
    return table.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, list):
        values = cast("list[str]", value)
        if any(LIST_SEPARATOR in text for text in values):
            raise InvalidInput(f"a table cannot hold {values!r}: export .jsonl instead")
        return f"{LIST_SEPARATOR} ".join(values)
    return "true" if value is True else str(value or "")
