"""JSON to lines of paths and values."""

from runtime.parsing.content import Content, joined
from runtime.parsing.values import lines, loaded


def text(source: str) -> Content:
    """Return the values, each under its path. Raises InvalidInput for what is not JSON, too deep or
    without a value.
    """
    return joined(lines(loaded(source)))
