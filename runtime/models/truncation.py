"""Shortens a text to what an embedding model reads: so many tokens, so many bytes, never half a
character.
"""

from collections.abc import Callable
from functools import cache

from runtime.models.port import Tokenizer

# Loaded only for the first text that may be too long: a vocabulary takes a second and 40 MB, most
# texts are short. ruff: noqa: PLC0415

VOCABULARY = "cl100k_base"
"""The token encoding of OpenAI's embedding models. Other models count otherwise: set a lower limit
for them.
"""


LONGEST_TOKEN = 128
"""Bytes of the longest token, a run of blanks: what lies behind so many need not be counted."""


def cutter(
    tokens: int, bytes_: int, tokenizer: Callable[[], Tokenizer] | None = None
) -> Callable[[str], str]:
    """Return a function that cuts a text to both limits; 0 means none."""
    load = cache(tokenizer or load_vocabulary)

    def cut(text: str) -> str:
        text = to_bytes(text, bytes_) if bytes_ else text
        # A token has at least one byte, so a text of few bytes needs no counting.
        return to_tokens(text, tokens, load()) if tokens and len(text.encode()) > tokens else text

    return cut


def to_bytes(text: str, limit: int) -> str:
    """Return the longest beginning of the text that has at most `limit` bytes as UTF-8."""
    return text.encode()[:limit].decode("utf-8", "ignore")


def to_tokens(text: str, limit: int, tokenizer: Tokenizer) -> str:
    """Return a beginning of the text that has at most `limit` tokens, as long as whole characters
    allow.
    """
    tokens = tokenizer.encode(to_bytes(text, limit * LONGEST_TOKEN))
    count = limit
    while len(tokens) > limit:
        text = _common(text, tokenizer.decode(tokens[:count]))
        # Alone, the beginning may be cut into tokens in another way, though hardly ever into more.
        tokens = tokenizer.encode(text)
        count = count - 1
    return text


def _common(text: str, beginning: str) -> str:
    """Return `beginning` without the halves of a character at its end."""
    while not text.startswith(beginning):
        beginning = beginning[:-1]
    return beginning


def load_vocabulary() -> Tokenizer:
    """Return the tokenizer that counts where the model's own is unknown."""
    from runtime.models.tokens import TiktokenTokenizer  # noqa: PLC0415

    return TiktokenTokenizer(VOCABULARY)
