"""Text to chunks: windows of tokens that overlap."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from contracts.ids import chunk_id
from contracts.values import Chunk


class Tokens(Protocol):
    """What cutting needs of a tokenizer."""

    def encode(self, text: str) -> list[int]: ...
    def decode(self, tokens: Sequence[int]) -> str: ...


def windows(document_id: str, text: str, tokens: Tokens, *, size: int, overlap: int) -> Iterator[Chunk]:
    """Windows of `size` tokens, each beginning `overlap` tokens before the last one ends; blank ones are left out.

    The last window may lie wholly inside the overlap, as it does in LightRAG.
    """
    encoded = tokens.encode(text)
    order = 0
    for start in range(0, len(encoded), size - overlap):
        window = encoded[start : start + size]
        content = tokens.decode(window).strip()
        if content:
            yield Chunk(id=chunk_id(document_id, order), order=order, tokens=len(window), content=content)
            order += 1


def parts(chunks: Sequence[Chunk], limit: int) -> list[list[Chunk]]:
    """The chunks in runs that as JSON stay under `limit` bytes, at least one chunk in each."""
    runs: list[list[Chunk]] = []
    room = 0
    for chunk in chunks:
        size = len(chunk.model_dump_json().encode()) + 1
        if not runs or size > room:
            runs.append([])
            room = limit
        runs[-1].append(chunk)
        room -= size
    return runs
