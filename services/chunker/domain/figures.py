"""Figures of a document that are to be described: which of them, as which chunks, and what those
say.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from contracts.events import FiguresListed, ListedFigure
from contracts.ids import chunk_id, sha256
from contracts.values import Chunk, ChunkRef, DocumentVersion, Figure, figure_label
from services.chunker.domain.spans import TokenCodec


class FigureLimits(NamedTuple):
    """Which figures are described: at most so many of a document, of at most so many bytes, with
    sides of at least so many pixels.
    """

    max_figures: int
    max_bytes: int
    min_side: int

    def fit(self, size: int, width: int, height: int) -> bool:
        """Return whether a picture of so many bytes and pixels is described."""
        return size <= self.max_bytes and min(width, height) >= self.min_side


class DocumentExtent(NamedTuple):
    """How many parts of ChunksCreated and how many chunks a document has, those of its figures
    among them, and how many chunks are of its text, where that is known.
    """

    parts: int
    chunks: int
    text_chunks: int | None


@dataclass
class FiguresToDescribe:
    """The figures of a document that become chunks of their own behind those of its text.

    Under which headings they stand is known once the chunks of the text have passed.
    """

    figures: Sequence[Figure] = ()
    left_out: int = 0
    """Figures beyond the limits, which nobody describes."""
    _headings: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])

    @classmethod
    def within(cls, figures: Sequence[Figure], limits: FigureLimits | None) -> "FiguresToDescribe":
        """Choose from the figures of a document; none where nobody describes figures."""
        if limits is None:
            return cls()
        fitting_figures = [
            figure
            for figure in figures
            if limits.fit(figure.blob.size, figure.width, figure.height)
        ]
        chosen_figures = fitting_figures[: limits.max_figures]
        return cls(chosen_figures, len(figures) - len(chosen_figures))

    def __len__(self) -> int:
        """Return how many they are."""
        return len(self.figures)

    def passing(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Yield the chunks of the text, and note the headings over each figure's first place."""
        for chunk in chunks:
            for ref in chunk.figures:
                self._headings.setdefault(ref.number, chunk.headings)
            yield chunk

    def warnings(self) -> tuple[str, ...]:
        """Return what is not described, in a sentence."""
        if not self.left_out:
            return ()
        pictures = "1 figure is" if self.left_out == 1 else f"{self.left_out} figures are"
        return (
            f"{pictures} not described: VLM_MAX_FIGURES, VLM_MAX_IMAGE_BYTES and "
            "VLM_MIN_IMAGE_PIXEL are the limits",
        )

    def listed(self, document: DocumentVersion, extent: DocumentExtent) -> FiguresListed:
        """Return the event that has them described; the extent has their parts and chunks."""
        first_order = extent.chunks - len(self.figures)
        return FiguresListed(
            document=document,
            figures=tuple(
                ListedFigure(
                    figure=figure,
                    chunk=ChunkRef(id=chunk_id(document.id, order), order=order),
                    headings=self._headings.get(figure.number, ()),
                )
                for order, figure in enumerate(self.figures, first_order)
            ),
            parts=extent.parts,
            chunk_count=extent.chunks,
            text_count=extent.text_chunks,
        )


def description_key(model: str, prompt_version: str, figure: Figure) -> str:
    """Return a hash of what a description depends on: model, prompt, picture, caption."""
    return sha256("\x1f".join((model, prompt_version, figure.sha256, figure.caption)))


def figure_chunk(listed_figure: ListedFigure, description: str, tokens: TokenCodec) -> Chunk:
    """Return the chunk that a description becomes: it names the figure first."""
    figure = listed_figure.figure
    content = f"{figure_label(figure.number, figure.caption)}\n\n{description}"
    return Chunk(
        id=listed_figure.chunk.id,
        order=listed_figure.chunk.order,
        tokens=len(tokens.encode(content)),
        content=content,
        headings=listed_figure.headings,
        page=figure.page,
        figures=(figure.ref.model_copy(update={"description": description}),),
    )
