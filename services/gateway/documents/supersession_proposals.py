"""Supersessions that rules propose and nobody has decided."""

from collections.abc import Collection
from dataclasses import dataclass

from contracts.graph import Partition
from contracts.values import Validity
from services.gateway.documents.supersession_rules import (
    RULES,
    NamedDocument,
    Rule,
    Supersession,
    supersessions,
)
from services.query.status.port import Documents, Listing

MAX_DOCUMENTS = 20_000
"""Documents whose names are compared, the newest."""


@dataclass(frozen=True)
class Proposals:
    """The surest supersessions, of how many documents the names were compared, and how many there
    are.
    """

    supersessions: list[Supersession]
    looked_at: int
    documents: int


async def proposals(
    documents: Documents, partition: Partition, *, limit: int, rules: Collection[Rule] = RULES
) -> Proposals:
    """Return at most `limit` supersessions that these rules see, without those that are stated or
    rejected already. Raises `Unavailable`.
    """
    listing = Listing(order="created_at", descending=True, limit=MAX_DOCUMENTS)
    page = await documents.page(partition, listing)
    decided_pairs = {
        frozenset((document.id, other_id))
        for document in page.documents
        for other_id in _decided(document.validity)
    }
    names = [NamedDocument(document.id, document.file_path) for document in page.documents]
    undecided_items = [
        item
        for item in supersessions(names, rules)
        if frozenset((item.successor.id, item.predecessor.id)) not in decided_pairs
    ]
    return Proposals(undecided_items[:limit], len(names), page.total)


def _decided(validity: Validity | None) -> tuple[str, ...]:
    return (*validity.supersedes, *validity.coexists_with) if validity else ()
