"""What becomes of the text of a model before anybody reads it, in one piece or in many."""

from collections.abc import Mapping

from services.query.answering.citations import CitationFilter
from services.query.answering.reference_lists import ReferenceListFilter
from services.query.answering.safe_markdown import SafeMarkdown


class StreamCleaner:
    """Takes out what was made up and what could do harm, however the text is split.

    `references`: file path to reference id; with them citations and lists of others are dropped. None: what stands in
    brackets is no citation.
    """

    def __init__(self, references: Mapping[str, str] | None) -> None:
        known = [] if references is None else [ReferenceListFilter(references), CitationFilter(references.values())]
        # The last one, for what is dropped before may bring together what was apart.
        self._filters = [*known, SafeMarkdown()]

    def feed(self, piece: str) -> str:
        """What can be told of the text up to here."""
        for each in self._filters:
            piece = each.feed(piece)
        return piece

    def end(self) -> str:
        """What was held back, when nothing follows."""
        rest = ""
        for each in self._filters:
            rest = each.feed(rest) + each.end()
        return rest


def clean(text: str, references: Mapping[str, str] | None) -> str:
    """The whole text, cleaned."""
    filters = StreamCleaner(references)
    return filters.feed(text) + filters.end()
