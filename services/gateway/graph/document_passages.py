"""The passages of one document in their order, each with what it gave to the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.graph import ChunkContribution
from contracts.ids import chunk_id
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.retrieval.port import ProvenanceReader
from services.query.status.port import Passages


@dataclass(frozen=True)
class PassageWithGraph:
    """A passage, and what it says of entities and relations."""

    passage: Passage
    contributions: Sequence[ChunkContribution]


async def document_passages(
    passages: Passages,
    provenance: ProvenanceReader,
    partitions: Partitions,
    document_id: str,
    orders: range,
) -> list[PassageWithGraph]:
    """Return the passages of these orders that are there, in order. Two reads, however many they
    are.
    """
    ids = [chunk_id(document_id, order) for order in orders]
    passage_of = await passages.get(partitions.status, ids)
    provenance_of = await provenance.of_chunks(partitions.graph, list(passage_of))
    return [
        PassageWithGraph(passage_of[id], provenance_of.get(id, ()))
        for id in ids
        if id in passage_of
    ]
