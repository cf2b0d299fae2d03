"""Has the built-in embedder tell where a document changes its subject."""

from collections.abc import Iterable, Iterator

from contracts.chunking import Chunking
from runtime.errors import InvalidInput, Poison
from services.chunker.domain import document
from services.chunker.domain.semantic import split_by_meaning
from services.chunker.domain.spans import Span
from services.chunker.port import Cutters


def cut_by_meaning(cutters: Cutters, chunking: Chunking) -> document.Cut | None:
    """Return the cut of `semantic`, None for any other chunking. It raises Poison where there is no
    embedder.
    """
    vector = cutters.sentence_vector
    if chunking.chunker != "semantic":
        return None
    if vector is None:
        raise Poison("the chunker 'semantic' cannot be used here")

    def cut(texts: Iterable[str]) -> Iterator[Span]:
        try:
            yield from split_by_meaning(texts, cutters.tokens, chunking.size or 1, vector)
        except InvalidInput as error:
            raise Poison(str(error)) from None

    return cut
