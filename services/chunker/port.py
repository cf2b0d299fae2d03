"""What the chunker cuts with: a tokenizer, vectors of sentences, and chunkers that other packages
bring.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from services.chunker.domain.semantic import SentenceVector
from services.chunker.domain.spans import TokenCodec


class Chunkers(Protocol):
    """Chunkers by their names."""

    def title(self, name: str) -> str:
        """Return what the chunker is and whose, for errors. Raises InvalidInput for a name of
        none.
        """
        ...

    async def cut(self, name: str, text: str, size: int, overlap: int) -> Sequence[tuple[int, int]]:
        """Return the offsets, in characters of the text, at which its chunks begin and end.

        Raises InvalidInput for a name of none, and with the reason where the chunker fails.
        """
        ...


class Cutters(NamedTuple):
    """What texts are cut with; without `plugins`, only by the strategies of our own, and without
    `sentence_vector` not by `semantic`.
    """

    tokens: TokenCodec
    plugins: Chunkers | None = None
    sentence_vector: SentenceVector | None = None
