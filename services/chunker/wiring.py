"""What the chunker would make of a text, for estimates; the service itself cuts in `handler`."""

from collections.abc import Sequence

from contracts.values import Chunk, Chunking
from services.chunker.domain import document
from services.chunker.domain.spans import TokenCodec


def cut(text: str, tokens: TokenCodec, chunking: Chunking) -> Sequence[Chunk]:
    """Return the chunks of a text that is cut so. Raises Poison for an empty one."""
    return list(document.chunks("", document.Source(lambda: [text]), tokens, chunking))
