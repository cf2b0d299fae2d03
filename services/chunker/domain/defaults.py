"""How documents are cut that do not say it themselves, by workspace and by way of cutting."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from contracts.chunking import Chunking
from contracts.ids import origin_of


@dataclass(frozen=True)
class ChunkingDefaults:
    """What a document does not say itself of how it is cut.

    `usual`: of all documents; `ways`: the name of another way of cutting, by workspace; `sizes`:
    another size and overlap, by the name of the way.
    """

    usual: Chunking
    ways: Mapping[str, str] = field(default_factory=dict[str, str])
    sizes: Mapping[str, Chunking] = field(default_factory=dict[str, Chunking])

    def of(self, workspace: str, own: Chunking | None) -> Chunking:
        """Return how a document of the workspace is cut that says this itself. A branch is cut as
        its origin.

        Raises ValueError for what does not go together.
        """
        way = _way(own) or self.ways.get(origin_of(workspace) or workspace) or _way(self.usual)
        sizes = self.sizes.get(way, Chunking())
        size = sizes.size or self.usual.size
        overlap = self.usual.overlap if sizes.overlap is None else sizes.overlap
        if size is not None and overlap is not None and sizes.overlap is None:
            overlap = min(overlap, size // 2)
        defaults = Chunking.by(way or None, size=size, overlap=overlap)
        return own.over(defaults).bounded() if own else defaults


def _way(chunking: Chunking | None) -> str:
    """Return the name of a way of cutting; empty where none is said."""
    if chunking is None:
        return ""
    is_split = chunking.split_by_character is not None
    return chunking.chunker or chunking.strategy or ("token" if is_split else "")
