"""What the chunker would make of a text, for estimates; the service itself cuts in `handler`."""

import asyncio
from collections.abc import Sequence

from contracts.chunking import OWN_CHUNKERS, Chunking
from contracts.values import Chunk
from runtime.models.sentence_vectors import sentence_vector
from runtime.plugins.chunking import InstalledChunkers
from services.chunker.cut_by_meaning import cut_by_meaning
from services.chunker.cut_by_plugin import cut_by_plugin
from services.chunker.domain import document
from services.chunker.domain.spans import TokenCodec
from services.chunker.port import Cutters


async def cut(text: str, tokens: TokenCodec, chunking: Chunking) -> Sequence[Chunk]:
    """Return the chunks of a text that is cut so. Raises Poison for an empty one, and for a chunker
    that is not there or fails.
    """
    source = document.Source(lambda: [text])
    cutters = Cutters(tokens, InstalledChunkers(), sentence_vector)
    cut_spans = cut_by_meaning(cutters, chunking)
    if chunking.chunker not in (None, *OWN_CHUNKERS):
        plugin_cut = await cut_by_plugin(source, cutters, chunking, document.MAX_CHUNKS)
        cut_spans = plugin_cut.spans
    chunks = document.chunks("", source, tokens, chunking, cut=cut_spans)
    return await asyncio.to_thread(list, chunks)
