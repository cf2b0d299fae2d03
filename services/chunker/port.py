"""What the chunker cuts with (a tokenizer, vectors of sentences, and chunkers that other packages
bring), and who describes figures.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from contracts.values import Figure, TokenUsage
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


@dataclass(frozen=True)
class Description:
    """What a model says of a figure, what it counted, and which figure of which version it was
    paid for.
    """

    text: str
    usage: TokenUsage = field(default_factory=TokenUsage)
    payer: str = ""


class Describer(Protocol):
    """Says in words what a figure shows."""

    model: str
    prompt_version: str
    """Identifies everything that affects a description but the figure and its caption."""

    async def describe(self, figure: Figure, picture: bytes) -> Description:
        """Return the description of a figure, whose picture is this file. Raises what `Chat`
        raises.
        """
        ...


class Descriptions(Protocol):
    """A cache of descriptions, by cache key, per workspace."""

    async def once(
        self, workspace: str, key: str, make: Callable[[], Awaitable[Description]]
    ) -> tuple[Description, bool]:
        """Return the cached description, or else call `make` and cache its result; and whether it
        was cached before. Raises what `make` raises.
        """
        ...
