"""Options of commands that say how documents are cut."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from contracts.chunking import Chunking

ChunkSize = Annotated[int | None, typer.Option("--chunk-size", min=1, help="Tokens of a chunk.")]
ChunkOverlap = Annotated[
    int | None, typer.Option("--chunk-overlap", min=0, help="Tokens that two chunks share.")
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--chunking",
        metavar="STRATEGY",
        help=(
            "How texts are cut: token, recursive, paragraph (at headings), semantic (where the "
            "subject changes), or that of a plugin."
        ),
    ),
]


def chunking_of(strategy: str | None, size: int | None, overlap: int | None) -> "Chunking | None":
    """Return the chunking, None where nothing is said of it. Raises InvalidInput for one that
    cannot be.
    """
    from contracts.chunking import Chunking  # noqa: PLC0415
    from publishing.draft import validated  # noqa: PLC0415
    from runtime.plugins.chunking import check_chunker  # noqa: PLC0415

    if strategy is None and size is None and overlap is None:
        return None

    def chunking() -> Chunking:
        chunking = Chunking.by(strategy, size=size, overlap=overlap)
        check_chunker(chunking)
        return chunking

    return validated(chunking)
