"""Where an entity or a relation comes from: what each chunk says of it, and where that chunk
stands.
"""

from dataclasses import dataclass

from contracts.graph import Provenance
from contracts.ids import pair
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.status.port import Passages
from services.query.visibility.contributions import PagedContributions


@dataclass(frozen=True)
class Source:
    """What one chunk says, and its passage; None while the passage is not there yet."""

    provenance: Provenance
    passage: Passage | None


async def sources_of(
    provenance: PagedContributions,
    passages: Passages,
    partitions: Partitions,
    names: tuple[str, ...],
    *,
    after: str,
    limit: int,
) -> list[Source]:
    """Return a page of the sources of an entity (one name) or a relation (two), behind the cursor
    `after`.

    Reads as much for a name that a hundred thousand chunks say as for another.
    """
    contributions = await provenance.of(
        partitions.graph, names if len(names) == 1 else pair(*names), after=after, limit=limit
    )
    passage_of = await passages.get(
        partitions.status, [contribution.chunk_id for contribution in contributions]
    )
    return [
        Source(contribution, passage_of.get(contribution.chunk_id))
        for contribution in contributions
    ]
