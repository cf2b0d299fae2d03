"""Cleans the text of a model before anybody reads it, whole or streamed."""

from collections.abc import Mapping

from services.query.answering.citations import CitationFilter
from services.query.answering.reference_lists import ReferenceListFilter
from services.query.answering.safe_markdown import SafeMarkdown


class StreamCleaner:
    """Removes invented references and unsafe Markdown from a streamed text, however it is split.

    `references` maps file path to reference id; citations and lists of other references are
    removed. With None, numbers in brackets are no citations and stay.
    """

    def __init__(self, references: Mapping[str, str] | None) -> None:
        reference_filters = (
            []
            if references is None
            else [ReferenceListFilter(references), CitationFilter(references.values())]
        )
        # It runs last, because removing citations may join text that was separate.
        self._filters = [*reference_filters, SafeMarkdown()]

    def feed(self, piece: str) -> str:
        """Take the next piece of input and return the output that is certain so far."""
        for each in self._filters:
            piece = each.feed(piece)
        return piece

    def end(self) -> str:
        """Return the output for the rest of the input; nothing may be fed afterwards."""
        rest = ""
        for each in self._filters:
            rest = each.feed(rest) + each.end()
        return rest


def clean(text: str, references: Mapping[str, str] | None) -> str:
    """Return the whole text, cleaned. `references` is as for `StreamCleaner`."""
    filters = StreamCleaner(references)
    return filters.feed(text) + filters.end()
