"""Says of a document which of its chunks were too long for the embedding model."""

from collections.abc import Mapping

from contracts.events import ChunksCreated
from contracts.values import document_warnings
from knowledge.vector_rows import chunk_row


def cut_warnings(event: ChunksCreated, cuts: Mapping[str, int], model: str) -> tuple[str, ...]:
    """Return the warning about the chunks of which only a beginning was embedded, none without such
    chunks.

    `cuts`: texts that were cut, with the number of characters that were embedded.
    """
    texts = [chunk_row(event.document, chunk).text for chunk in event.chunks]
    shortest = [cuts[text] for text in texts if text in cuts]
    if not shortest:
        return ()
    return document_warnings(
        [
            f"{len(shortest)} of {len(texts)} chunks are longer than the embedding model {model} "
            f"reads: searches by meaning know their beginnings only (at least {min(shortest)} "
            "characters); smaller chunks (CHUNK_SIZE) avoid that"
        ]
    )
