"""Filters of a streamed text: what they share, and one after another."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Protocol


class TextFilter(Protocol):
    """Changes a text that comes in pieces; the output is the same however the input is split."""

    def feed(self, piece: str) -> str:
        """Take the next piece of input and return the output that is certain so far."""
        ...

    def end(self) -> str:
        """Return the output for the rest of the input; nothing may be fed afterwards."""
        ...


class BufferingFilter(ABC):
    """The buffer of a filter: `_parts` reads it, yields output, and leaves in it what needs more
    input.

    A buffer that needs more input is read from its beginning each time, so it is read again only
    when it has an eighth more. Each character is read about nine times at most, however small the
    pieces are, and a short buffer is read again at its next character.
    """

    def __init__(self) -> None:
        self._buffer = ""
        self._size_to_read = 0
        """Characters that the buffer must have before it is read again."""

    def feed(self, piece: str) -> str:
        """See `TextFilter.feed`."""
        self._buffer += piece
        if len(self._buffer) < self._size_to_read:
            return ""
        output = "".join(self._parts(self._buffer, is_last=False))
        size = len(self._buffer)
        self._size_to_read = size + size // 8
        return output

    def end(self) -> str:
        """See `TextFilter.end`."""
        return "".join(self._parts(self._buffer, is_last=True))

    @abstractmethod
    def _parts(self, text: str, *, is_last: bool) -> Iterator[str]:
        """Yield the output for this text, and set the buffer to the rest of it. `is_last`: no more
        input follows.
        """


class FilterChain:
    """Filters one after another, as one filter."""

    def __init__(self, filters: Sequence[TextFilter]) -> None:
        self._filters = filters

    def feed(self, piece: str) -> str:
        """See `TextFilter.feed`."""
        for text_filter in self._filters:
            piece = text_filter.feed(piece)
        return piece

    def end(self) -> str:
        """See `TextFilter.end`."""
        remainder = ""
        for text_filter in self._filters:
            remainder = text_filter.feed(remainder) + text_filter.end()
        return remainder


def filtered(text: str, text_filter: TextFilter) -> str:
    """Return a whole text as a new filter changes it."""
    return text_filter.feed(text) + text_filter.end()
