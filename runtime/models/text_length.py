"""Finds how long a text an embedding model takes, by asking: servers say it in every wording, or
break.

Lengths are tokens of a common vocabulary (`truncation.py`). The server's own are others, so the
length that is found is near its limit, not equal to it.
"""

from collections.abc import Awaitable, Callable
from functools import cache

import structlog

from runtime.models.port import Vector
from runtime.models.truncation import load_vocabulary, to_tokens

logger = structlog.get_logger(__name__)

SHORTEST = 64
"""Tokens that every embedding model reads: a shorter text is never refused for its length."""

MARGIN = 1.5
"""Times the tokens of a refused text that a harmless one has which is tried: the server may count
more of them.
"""

NEAR = 8
"""Parts of a text: the length that is found is less than one of them below the longest that is
taken.
"""

HARMLESS = "The quick brown fox jumps over the lazy dog. "
HARMLESS_TOKENS = 10

Embed = Callable[[str], Awaitable[Vector | None]]
"""Returns the vector of a text, or None where the provider refuses it though it answers others."""


class TextLength:
    """The longest text that an endpoint is known to take, in tokens; `limit` is None while nothing
    was refused.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self._vocabulary = cache(load_vocabulary)

    def cut(self, text: str) -> str:
        """Return the text as far as the endpoint takes it, as far as is known."""
        if self.limit is None or len(text.encode()) <= self.limit:
            return text
        return to_tokens(text, self.limit, self._vocabulary())

    async def shortened(self, text: str, embed: Embed) -> tuple[str, Vector] | None:
        """Return the longest beginning of a refused text that is taken, and its vector.

        None where it is not its length for which the text is refused. Raises what `embed` raises.
        """
        tokens = self._vocabulary().count(text)
        if tokens <= SHORTEST:
            return None
        harmless = HARMLESS * round(tokens * MARGIN / HARMLESS_TOKENS)
        if await embed(harmless) is not None:
            return None
        result = await self._search(text, tokens, embed)
        if result is not None:
            self._remember(self._vocabulary().count(result[0]))
        return result

    async def _search(self, text: str, tokens: int, embed: Embed) -> tuple[str, Vector] | None:
        taken_length = 0
        refused_length = tokens
        best: tuple[str, Vector] | None = None
        while refused_length - taken_length > max(refused_length // NEAR, 1):
            length = (taken_length + refused_length) // 2
            if length < SHORTEST and best is None:
                return None
            beginning = to_tokens(text, length, self._vocabulary())
            vector = await embed(beginning)
            if vector is None:
                refused_length = length
            else:
                taken_length = length
                best = (beginning, vector)
        return best

    def _remember(self, tokens: int) -> None:
        # A text of odd characters has many more tokens there than here: others are not cut for it.
        if self.limit is None or tokens >= self.limit // 2:
            self.limit = tokens
            logger.warning("texts are cut to what the embedding model takes", tokens=tokens)
