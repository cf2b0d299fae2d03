"""Cleans the text of a model before anybody reads it, whole or streamed."""

from collections.abc import Mapping

from services.query.answering.buffering import FilterChain, TextFilter, filtered
from services.query.answering.citations import CitationFilter
from services.query.answering.reference_lists import ReferenceListFilter
from services.query.answering.safe_markdown import SafeMarkdown


def cleaner(references: Mapping[str, str] | None) -> TextFilter:
    """Return a new filter that removes invented references and unsafe Markdown.

    `references` maps file path to reference id; citations and lists of other references are
    removed. With None, numbers in brackets are no citations and stay.
    """
    if references is None:
        return SafeMarkdown()
    # The Markdown comes last, because removing citations may join text that was separate.
    return FilterChain(
        [ReferenceListFilter(references), CitationFilter(references.values()), SafeMarkdown()]
    )


def clean(text: str, references: Mapping[str, str] | None) -> str:
    """Return the whole text, cleaned. `references` is as for `cleaner`."""
    return filtered(text, cleaner(references))
