"""Has a parser of a package read a file. It runs in the sandbox only."""

from collections.abc import Callable
from typing import cast

from runtime.errors import InvalidInput
from runtime.parsing.content import Content, joined, paged
from runtime.plugins.installed import cause, plugin


def parsed_by_plugin(suffix: str) -> Callable[[bytes], Content]:
    """Return what reads files of that suffix, loaded.

    It raises InvalidInput with the name of the package for whatever that raises, and for what is
    neither a text nor a list of those of pages.
    """
    parser = plugin("lightstream.parsers", suffix)
    function = parser.load()

    def read(data: bytes) -> Content:
        try:
            result: object = function(data)
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:
            raise InvalidInput(f"{parser.title} cannot read it: {cause(error)}") from None
        if isinstance(result, str):
            return joined([result.strip()])
        pages = cast("list[object]", result if isinstance(result, list) else [None])
        if all(isinstance(page, str) for page in pages):
            return _with_text(paged(cast("list[str]", pages)))
        raise InvalidInput(
            f"{parser.title} gives no text: it has to give a str, or a list of such for pages"
        )

    return read


def _with_text(content: Content) -> Content:
    if not content.text:
        raise InvalidInput("has no text in it: add a file that has some")
    return content
