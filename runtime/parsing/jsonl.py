"""JSON Lines, one value in each line, to lines of paths and values."""

from collections.abc import Iterator

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined
from runtime.parsing.values import lines, loaded


def text(source: str) -> Content:
    """Return the values of each line under its number. Raises InvalidInput with the number of a bad
    line.
    """
    return joined(_blocks(source))


def _blocks(source: str) -> Iterator[str]:
    # Not splitlines(): a JSON string may hold the other characters it splits at.
    for number, line in enumerate(source.split("\n"), start=1):
        if line.strip():
            try:
                yield from lines(loaded(line), f"line {number}")
            except InvalidInput as error:
                raise InvalidInput(f"line {number}: {error}") from None
