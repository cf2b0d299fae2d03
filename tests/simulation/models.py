"""The models of a simulation: an extractor and a chat that count what is paid, and refuse while
their provider does.
"""

import hashlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from contracts.values import ExtractedEntity, ExtractedRelation, Figure, TokenUsage
from runtime.errors import ModelRefused
from runtime.models.port import AnswerPiece, Completion, Message
from services.chunker.port import Description
from services.extractor.domain.extraction import Extraction
from tests.simulation.scheduler import Chance

NEVER = "18"
NOT_YET = "19"
"""Words of passages that the model refuses for good, and until somebody has mended it."""


IN_FLIGHT = 5.0
"""Seconds within which two replicas may pay for the same text: neither can know of the other's call
yet.
"""


@dataclass
class Payments:
    """Counts calls by what was asked for, and the needless ones among them."""

    chance: Chance
    needless: int = 0
    _paid_at: dict[str, float] = field(default_factory=dict[str, float])

    def count(self, key: str) -> None:
        """Count a call for this."""
        before, self._paid_at[key] = self._paid_at.get(key), self.chance.now
        self.needless += before is not None and before < self.chance.now - IN_FLIGHT


@dataclass
class CountingExtractor:
    """Finds the names of a passage and relations of neighbours; refuses some passages."""

    chance: Chance
    payments: Payments
    mended: bool = False
    model = "simulated"
    draft_version = prompt_version = "simulated-1"

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        self.chance.ask_provider()
        words = content.split()
        if NEVER in words or (NOT_YET in words and not self.mended):
            raise ModelRefused(f"the model refuses {content!r}", "content")
        self.payments.count(content)
        await self.chance.pause()
        names = [word for word in words if word.isalpha()]
        return Extraction(
            tuple(
                ExtractedEntity(name=name, type="person", description=f"{name} of {content}")
                for name in names
            ),
            tuple(
                ExtractedRelation(
                    source=a, target=b, keywords=("met",), description=f"{a} met {b} in {content}"
                )
                for a, b in pairwise(names)
            ),
            TokenUsage(prompt=len(words), completion=1, calls=1),
        )

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        return first


@dataclass
class CountingDescriber:
    """Says of a picture what its bytes say; refuses some pictures."""

    chance: Chance
    payments: Payments
    mended: bool = False
    model = "simulated"
    prompt_version = "simulated-1"

    async def describe(self, figure: Figure, picture: bytes) -> Description:
        self.chance.ask_provider()
        content = picture.decode()
        words = content.split()
        if NEVER in words or (NOT_YET in words and not self.mended):
            raise ModelRefused(f"the model refuses {content!r}", "content")
        self.payments.count(content)
        await self.chance.pause()
        return Description(content, TokenUsage(prompt=len(words), completion=1, calls=1))


@dataclass
class CountingChat:
    """Condenses what it is asked to into a hash of it."""

    chance: Chance
    payments: Payments
    model = "simulated"

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        self.chance.ask_provider()
        prompt = messages[-1].content
        self.payments.count(prompt)
        await self.chance.pause()
        return Completion(
            f"in short {hashlib.sha256(prompt.encode()).hexdigest()[:8]}", TokenUsage(calls=1)
        )

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        yield AnswerPiece((await self.complete(messages)).text)

    async def close(self) -> None: ...
