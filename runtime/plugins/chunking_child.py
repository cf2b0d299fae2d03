"""The child process of a chunker: `python -m runtime.plugins.chunking_child lines 1200 100` reads a
text from standard input and writes a list of the offsets at which its chunks begin and end.
"""

import sys
from collections.abc import Callable, Iterable
from operator import index

import orjson

from runtime.errors import InvalidInput
from runtime.models.open import open_tokenizer
from runtime.parsing.child import serve
from runtime.plugins.installed import Plugin, cause, plugin
from runtime.text.token_boundaries import pieces


def main() -> None:
    """Entry point of the child."""
    name, size, overlap = sys.argv[1:]
    serve(lambda: _cutter(name, int(size), int(overlap)))


def _cutter(name: str, size: int, overlap: int) -> Callable[[bytes], bytes]:
    chunker = plugin("lightstream.chunkers", name)
    function = chunker.load()
    tokenizer = open_tokenizer()

    def count_tokens(text: str) -> int:
        return sum(len(tokenizer.encode(piece)) for piece in pieces([text]))

    def cut(data: bytes) -> bytes:
        try:
            result = function(data.decode(), size=size, overlap=overlap, count_tokens=count_tokens)
            return orjson.dumps(_pairs(chunker, result))
        except (InvalidInput, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            raise InvalidInput(f"{chunker.title} fails on it: {cause(error)}") from None

    return cut


def _pairs(chunker: Plugin, result: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the offsets as numbers. Raises InvalidInput for what are no pairs of such."""
    pairs: list[tuple[int, int]] = []
    for pair in result:
        try:
            start, end = pair
            pairs.append((index(start), index(end)))
        except (TypeError, ValueError):
            raise InvalidInput(
                f"{chunker.title} gives {pair!r:.80} as chunk {len(pairs) + 1}: it has to give "
                "pairs of offsets in the text"
            ) from None
    return pairs


if __name__ == "__main__":
    main()
