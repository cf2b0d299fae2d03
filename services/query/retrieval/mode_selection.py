"""Chooses the mode of a question whose mode is `auto`."""

from collections.abc import Sequence

from services.query.question import Mode
from services.query.retrieval.linking import Link


def choose_mode(links: Sequence[Link]) -> tuple[Mode, str]:
    """Return `walk` for a question that names an entity, else `mix`; and why, in a sentence for people."""
    if not links:
        return "mix", "The question names no entity of the graph."
    named = ", ".join(dict.fromkeys(link.text for link in links))
    return "walk", f"The question names entities of the graph: {named}."
