"""Entities, relations and neighbourhoods restricted to some documents, without a trace of the
others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from contracts.graph import Entity, Provenance, Relation
from contracts.ids import SEPARATOR, UNKNOWN_SOURCE, chunk_place
from runtime.stores.graph.port import Neighbourhood

T = TypeVar("T", Entity, Relation)

MAX_DESCRIPTION = 6000
"""Longest description, in characters."""


def restricted(item: T, supports: Sequence[Provenance]) -> T | None:
    """Return the entity or relation rebuilt from these contributions, oldest document first; None
    without any.

    Descriptions that a model condensed are left out, for they may rest on other documents; so are
    keywords.
    """
    ordered_supports = sorted(supports, key=lambda s: (s.added_at, s.document_id, s.order))
    if not ordered_supports:
        return None
    chunks = tuple(dict.fromkeys(support.chunk_id for support in ordered_supports))
    paths = dict.fromkeys(
        support.file_path for support in ordered_supports if support.file_path != UNKNOWN_SOURCE
    )
    result = replace(
        item,
        description=SEPARATOR.join(
            dict.fromkeys(support.description for support in ordered_supports)
        )[:MAX_DESCRIPTION],
        source_ids=chunks,
        file_paths=tuple(paths),
        support=len(chunks),
        created_at=ordered_supports[0].added_at // 1_000_000,
    )
    return (
        replace(result, keywords=(), weight=float(len(chunks)))
        if isinstance(result, Relation)
        else result
    )


def restrict_neighbourhood(
    around: Neighbourhood, documents: Collection[str], further_sources: Mapping[str, Sequence[str]]
) -> Neighbourhood:
    """Return the nodes and relations that have chunks of these documents; `further_sources` has
    further chunks of some nodes.

    The total number of relations of each node is 0, because it would count those of other
    documents.
    """

    def chunks_in_scope(chunks: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            chunk for chunk in chunks if (place := chunk_place(chunk)) and place[0] in documents
        )

    nodes = {
        name: replace(node, source_ids=chunks, file_paths=(), support=len(chunks))
        for name, node in around.nodes.items()
        if (
            chunks := chunks_in_scope(
                dict.fromkeys([*node.source_ids, *further_sources.get(name, ())])
            )
        )
    }
    summaries = [
        replace(summary, source_ids=chunks, keywords=(), weight=float(len(chunks)))
        for summary in around.relation_summaries
        if summary.source in nodes
        and summary.target in nodes
        and (chunks := chunks_in_scope(summary.source_ids))
    ]
    return Neighbourhood(nodes, summaries, dict.fromkeys(nodes, 0))
