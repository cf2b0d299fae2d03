"""Where entities and relations of a past come from."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from contracts.graph import ChunkContribution, Partition, Provenance
from contracts.ids import pair
from knowledge.contributions import Contribution, Key
from services.query.past.state import PastState


@dataclass(frozen=True)
class PastProvenance:
    """`ProvenanceReader` of a state."""

    state: PastState

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """See `ProvenanceReader.of`: in canonical order."""
        key: Key = (names[0],) if len(names) == 1 else pair(*names)
        provenance = [
            provenance_of(contribution, f"{number:08d}")
            for number, contribution in enumerate(self.state.contributions.get(key, ()))
        ]
        return [
            source
            for source in provenance
            if source.cursor > after and (among is None or source.document_id in among)
        ][:limit]

    async def of_chunks(
        self, partition: Partition, chunks: Collection[str]
    ) -> dict[str, list[ChunkContribution]]:
        """See `ProvenanceReader.of_chunks`."""
        by_chunk = self._by_chunk
        return {chunk: by_chunk[chunk] for chunk in chunks if chunk in by_chunk}

    async def edited_keys(self, partition: Partition, keys: Collection[Key]) -> set[Key]:
        """See `ProvenanceReader.edited_keys`."""
        return {
            key
            for key in keys
            if any(
                contribution.names != key for contribution in self.state.contributions.get(key, ())
            )
        }

    async def in_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Provenance]]:
        """See `ProvenanceReader.in_chunks`."""
        return {
            key: [
                provenance_of(contribution)
                for contribution in self.state.contributions.get(key, ())
                if contribution.names == key and contribution.chunk_id in of_key
            ]
            for key, of_key in chunks.items()
        }

    @cached_property
    def _by_chunk(self) -> Mapping[str, list[ChunkContribution]]:
        by_chunk: defaultdict[str, list[ChunkContribution]] = defaultdict(list)
        for contributions in self.state.contributions.values():
            for contribution in contributions:
                if contribution.kind != "end":
                    by_chunk[contribution.chunk_id].append(
                        ChunkContribution(
                            contribution.names,
                            contribution.description,
                            contribution.type,
                            contribution.keywords,
                            contribution.weight,
                        )
                    )
        return by_chunk


def provenance_of(contribution: Contribution, cursor: str = "") -> Provenance:
    """Return a contribution as readers of sources have it."""
    return Provenance(
        cursor,
        contribution.names,
        contribution.chunk_id,
        contribution.document_id,
        contribution.order,
        contribution.version,
        contribution.added_at,
        contribution.file_path,
        contribution.description,
        contribution.type,
    )
