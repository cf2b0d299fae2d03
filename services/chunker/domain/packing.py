"""Joins pieces to chunks and cuts between them where a text itself has a border: at a heading, at
a change of subject.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from services.chunker.domain.pieces import Piece, last_pieces

ENOUGH = 0.75
"""The share of the size from which a border of the text ends a chunk. Smaller chunks were measured,
and answer worse.
"""

TOO_LITTLE = 0.25
"""The share of the size below which a chunk that has to be cut is not cut."""

GLUED = 1e9
"""The weight of a border at which a text is cut only where nothing else can be done."""


class BorderedPiece(NamedTuple):
    """A piece, and the border before it: the less its weight, the better it is to cut there.

    `ends` tells whether it ends a chunk that is long enough, though more would fit.
    """

    piece: Piece
    weight: float
    ends: bool = False


def packed(
    pieces: Iterable[BorderedPiece], size: int, overlap: int = 0
) -> Iterator[Sequence[Piece]]:
    """Yield the pieces of each chunk, at most `size` tokens together, small ones joined.

    What is too long for one chunk and fits two is cut near its middle, so that no scrap is left.
    Where the border is none of the text's own, whole pieces of up to `overlap` tokens are repeated.
    At most two chunks are held.
    """
    run = _Run(size, overlap)
    for candidate in pieces:
        if candidate.ends:
            yield from run.long_enough()
        run.add(candidate)
        while run.tokens > 2 * size:
            yield run.cut()
    yield from run.rest()


class _Run:
    """Pieces that are not in a chunk yet, behind those that are repeated of the last chunk."""

    def __init__(self, size: int, overlap: int) -> None:
        self._size = size
        self._overlap = overlap
        self._pieces: list[BorderedPiece] = []
        self._repeated = 0
        self.tokens = 0

    def add(self, candidate: BorderedPiece) -> None:
        self._pieces.append(candidate)
        self.tokens += candidate.piece.tokens

    def long_enough(self) -> Iterator[Sequence[Piece]]:
        """Yield the chunks that are long enough to end here, and hold what is not."""
        while self.tokens > self._size and len(self._pieces) - self._repeated > 1:
            yield self.cut()
        if self.tokens >= ENOUGH * self._size:
            yield self._take_all()

    def rest(self) -> Iterator[Sequence[Piece]]:
        """Yield all that is left, in as many chunks as it needs, and hold nothing."""
        yield from self.long_enough()
        if self._pieces:
            yield self._take_all()

    def _take_all(self) -> Sequence[Piece]:
        chunk = [candidate.piece for candidate in self._pieces]
        self._pieces = []
        self._repeated = 0
        self.tokens = 0
        return chunk

    def cut(self) -> Sequence[Piece]:
        """Return the pieces of the next chunk, and hold the others."""
        index = self._best_border()
        chunk = [candidate.piece for candidate in self._pieces[:index]]
        later_pieces = self._pieces[index:]
        repeated_pieces: list[Piece] = []
        if not later_pieces[0].ends:
            free_tokens = self._size - later_pieces[0].piece.tokens
            repeated_pieces = last_pieces(chunk, min(self._overlap, free_tokens))
        self._pieces = [*(BorderedPiece(piece, GLUED) for piece in repeated_pieces), *later_pieces]
        self._repeated = len(repeated_pieces)
        self.tokens = sum(candidate.piece.tokens for candidate in self._pieces)
        return chunk

    def _best_border(self) -> int:
        """Return how many pieces the next chunk has: at least one that is not repeated."""
        fits_two = self.tokens <= 2 * self._size
        goal = self.tokens / 2 if fits_two else self._size
        first_index = self._repeated + 1
        best_index = first_index
        best_rank = (True, GLUED + 1, 0.0)
        length = 0
        for index, candidate in enumerate(self._pieces):
            if index >= first_index:
                if length > self._size:
                    break
                too_short = length < TOO_LITTLE * self._size
                rank = (too_short, candidate.weight, abs(length - goal))
                if rank < best_rank:
                    best_index = index
                    best_rank = rank
            length += candidate.piece.tokens
        return best_index
