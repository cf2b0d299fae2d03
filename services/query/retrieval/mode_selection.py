"""Chooses the mode of a question whose mode is `auto`."""

from collections.abc import Sequence

from services.query.question import Mode
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.query_terms import QueryTerms


def choose_mode(question: str, links: Sequence[Link]) -> Mode:
    """Return `walk` for a question with several links, or with one link and several phrases; else `mix`.

    A phrase is a run of adjacent words that are neither stopwords nor part of a link.
    """
    several = len(links) > 1 or QueryTerms.of(question, links).phrase_count > 1
    return "walk" if links and several else "mix"
