"""What the chunker would make of a text by its settings, for estimates; the service itself cuts in
`handler`.
"""

from collections.abc import Sequence

from contracts.values import Chunk
from services.chunker.domain import document
from services.chunker.domain.spans import TokenCodec
from services.chunker.settings import ChunkerSettings


def cut(text: str, tokens: TokenCodec, settings: ChunkerSettings) -> Sequence[Chunk]:
    """Return the chunks of a text that says nothing of its own about cutting. Raises Poison for an
    empty one.
    """
    return list(document.chunks("", document.Source(lambda: [text]), tokens, settings.chunking))
