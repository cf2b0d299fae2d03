"""Neighbourhoods restricted to some documents, without a trace of the others."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from contracts.ids import chunk_place
from runtime.stores.graph.port import Neighbourhood


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
        name: node._replace(source_ids=chunks, support=len(chunks))
        for name, node in around.nodes.items()
        if (
            chunks := chunks_in_scope(
                dict.fromkeys([*node.source_ids, *further_sources.get(name, ())])
            )
        )
    }
    summaries = [
        summary._replace(source_ids=chunks, keywords=(), weight=float(len(chunks)))
        for summary in around.relation_summaries
        if summary.source in nodes
        and summary.target in nodes
        and (chunks := chunks_in_scope(summary.source_ids))
    ]
    return Neighbourhood(nodes, summaries, dict.fromkeys(nodes, 0))
