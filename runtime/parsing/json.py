"""JSON to lines of paths and values."""

from runtime.errors import InvalidInput
from runtime.parsing import jsonl
from runtime.parsing.content import Content, joined
from runtime.parsing.values import lines, loaded


def text(source: str) -> Content:
    """Return the values, each under its path; of a value in each line as JSON Lines. Raises
    InvalidInput for what is not JSON, too deep or without a value.
    """
    try:
        value = loaded(source)
    except InvalidInput:
        if not _is_whole(source.lstrip().partition("\n")[0]):
            raise
        return jsonl.text(source)
    return joined(lines(value))


def _is_whole(line: str) -> bool:
    """Return whether the first line is an object or a list by itself."""
    try:
        return isinstance(loaded(line), dict | list)
    except InvalidInput:
        return False
