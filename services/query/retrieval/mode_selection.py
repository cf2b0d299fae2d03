"""Which mode a question is answered in that leaves the choice to us."""

from collections.abc import Sequence

from services.query.question import Mode
from services.query.retrieval.linking import Link
from services.query.retrieval.multihop.query_terms import QueryTerms


def choose_mode(question: str, links: Sequence[Link]) -> Mode:
    """`walk` where the question names something known and asks more than one thing of it, or names several; else `mix`.

    What is asked is counted by phrases: words that say something and stand together, the names left out.
    """
    several = len(links) > 1 or QueryTerms.of(question, links).phrase_count > 1
    return "walk" if links and several else "mix"
