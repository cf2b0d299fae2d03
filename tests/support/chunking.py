"""A tokenizer for tests of cutting: each letter is a token, however many bytes it has."""

from collections.abc import Sequence


class CodePointTokenizer:
    """Tokens are code points."""

    def encode(self, text: str) -> list[int]:
        """One token a letter."""
        return list(map(ord, text))

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The letters as UTF-8."""
        return "".join(map(chr, tokens)).encode()
