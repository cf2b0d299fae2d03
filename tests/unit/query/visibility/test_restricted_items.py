"""What a viewer sees of an entity is read once of each revision."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from contracts.graph import Entity, Partition, Provenance, Relation
from knowledge.contributions import Key
from services.query.visibility.restricted_items import RestrictedItems

GRAPH = Partition("w", 1)
DOCUMENTS = frozenset({"open"})
RADIUM = Entity(
    "Radium", 1, "element", "It glows, in secret", ("open-chunk-000", "secret-chunk-000"), support=2
)
USE = Relation("Radium", "Watch", 1, 1.0, (), "Glows", ("open-chunk-000",), support=1)


SUPPORT = Provenance(
    "c", ("Radium",), "open-chunk-000", "open", 0, 1, 1, "open.md", "Glows", "mineral"
)


class CountedContributions:
    """What the open document says, and how often that was asked for. `names`: those that it has for
    what people have renamed.
    """

    def __init__(self, *names: str) -> None:
        self.names = names
        self.reads = self.looks_for_edits = 0

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        self.reads += 1
        return [replace(SUPPORT, names=self.names or tuple(names))]

    async def edited_keys(self, partition: Partition, keys: Collection[Key]) -> set[Key]:
        self.looks_for_edits += 1
        return set(keys) if self.names else set()

    async def in_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Provenance]]:
        self.reads += bool(chunks)
        return {
            key: [replace(SUPPORT, names=key, chunk_id=chunk) for chunk in of_key]
            for key, of_key in chunks.items()
        }


async def test_an_entity_is_read_again_when_its_revision_or_what_is_seen_changes() -> None:
    contributions = CountedContributions()
    items = RestrictedItems()
    for _ in range(3):
        (entity,) = await items.restrict([RADIUM], DOCUMENTS, GRAPH, contributions)
        assert entity.description == "Glows"
    assert contributions.reads == 1
    await items.restrict([replace(RADIUM, revision=2)], DOCUMENTS, GRAPH, contributions)
    await items.restrict([RADIUM], DOCUMENTS, Partition("w", 2), contributions)
    assert contributions.reads == 3


async def test_what_chunks_say_is_read_once_for_all_that_see_them() -> None:
    contributions = CountedContributions()
    items = RestrictedItems()
    for documents in (DOCUMENTS, DOCUMENTS | {"lamp"}, DOCUMENTS | {"dial"}):
        (entity,) = await items.restrict([RADIUM], documents, GRAPH, contributions)
        assert (entity.description, entity.source_ids) == ("Glows", ("open-chunk-000",))
    assert contributions.reads == 1


async def test_what_no_visible_document_says_is_not_read() -> None:
    contributions = CountedContributions()
    lamp = frozenset({"lamp"})
    assert await RestrictedItems().restrict([RADIUM], lamp, GRAPH, contributions) == []
    assert contributions.reads == 0


async def test_a_relation_whose_end_people_renamed_is_looked_at_each_time() -> None:
    items = RestrictedItems()
    spoken = CountedContributions()
    renamed = CountedContributions("Radium", "Clock")
    for contributions, reads in ((spoken, 0), (renamed, 4)):
        for _ in range(2):
            await items.restrict(
                [replace(USE, revision=1 + reads)], DOCUMENTS, GRAPH, contributions
            )
        assert contributions.reads == reads


async def test_a_weight_is_kept_until_the_revision_or_what_is_seen_changes() -> None:
    contributions = CountedContributions()
    items = RestrictedItems()
    used_often = replace(
        USE, weight=2.0, source_ids=("open-chunk-000", "secret-chunk-000"), support=2
    )
    looks = [(used_often, DOCUMENTS), (replace(used_often, revision=2), DOCUMENTS)]
    looks += [(used_often, frozenset({"open", "secret"})), (used_often, frozenset({"lamp"}))]
    weights: list[float | None] = []
    for relation, documents in looks:
        for _ in range(3):
            by_key = await items.weights([relation], documents, GRAPH, contributions)
            weights.append(by_key.get(USE.key))
    assert weights == [1.0] * 6 + [2.0] * 3 + [None] * 3
    assert (contributions.looks_for_edits, contributions.reads) == (4, 0)
    renamed = CountedContributions("Radium", "Clock")
    for _ in range(2):
        await RestrictedItems().weights([USE], DOCUMENTS, GRAPH, renamed)
    assert renamed.looks_for_edits == 4
