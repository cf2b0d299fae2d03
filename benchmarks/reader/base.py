"""What a reader begins with: the weights of a model that has learned from much more."""

from collections.abc import Sequence
from typing import Any, Protocol

BLOCK = 32
"""Numbers of words that share a scale."""


class Base(Protocol):
    """Weights by name, as floats: `emb.word`, `emb.pos`, `emb.type`, `emb.ln`; of each layer
    `l0.q`, `l0.k`, `l0.v`, `l0.ao`, `l0.fi`, `l0.fo`, `l0.aln`, `l0.oln`; `.w` and `.b` behind
    those that have a bias.
    """

    width: int
    heads: int
    inner: int
    epsilon: float
    layers: int
    """How many layers a reader takes of it."""

    def floats(self, name: str) -> Any:
        """Return a tensor of one dimension."""
        ...

    def matrix(self, name: str, columns: int) -> Any:
        """Return a tensor, shape (rows, columns)."""
        ...

    def packed_words(self, piece_numbers: Sequence[int]) -> tuple[Any, Any]:
        """Return the words of some pieces in 4 bits, shape (pieces, blocks, 16), and the scale of
        each block, shape (pieces, blocks).
        """
        ...

    def head(self) -> dict[str, Any]:
        """Return the weights of a head that judges pairs; nothing where it has none."""
        ...
