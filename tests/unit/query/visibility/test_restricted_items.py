"""What a viewer sees of an entity is read once of each revision."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from contracts.graph import Entity, Partition, Provenance, Relation
from services.query.visibility.restricted_items import RestrictedItems

GRAPH = Partition("w", 1)
DOCUMENTS = frozenset({"open"})
RADIUM = Entity(
    "Radium", 1, "element", "It glows, in secret", ("open-chunk-000", "secret-chunk-000"), support=2
)
USE = Relation("Radium", "Watch", 1, 1.0, (), "Glows", ("open-chunk-000",), support=1)


class CountedContributions:
    """What the open document says, and how often that was asked for."""

    def __init__(self, *names: str) -> None:
        self.names, self.reads = names, 0

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
        own_names = self.names or tuple(names)
        return [
            Provenance("c", own_names, "open-chunk-000", "open", 0, 1, 1, "open.md", "Glows", "")
        ]


async def test_an_entity_is_read_again_when_its_revision_or_what_is_seen_changes() -> None:
    contributions, items = CountedContributions(), RestrictedItems()
    for _ in range(3):
        (entity,) = await items.restrict([RADIUM], DOCUMENTS, GRAPH, contributions)
        assert entity.description == "Glows"
    assert contributions.reads == 1
    await items.restrict([replace(RADIUM, revision=2)], DOCUMENTS, GRAPH, contributions)
    await items.restrict([RADIUM], frozenset({"open", "lamp"}), GRAPH, contributions)
    await items.restrict([RADIUM], DOCUMENTS, Partition("w", 2), contributions)
    assert contributions.reads == 4


async def test_what_no_visible_document_says_is_not_read() -> None:
    contributions = CountedContributions()
    lamp = frozenset({"lamp"})
    assert await RestrictedItems().restrict([RADIUM], lamp, GRAPH, contributions) == []
    assert contributions.reads == 0


async def test_a_relation_whose_end_people_renamed_is_looked_at_each_time() -> None:
    items = RestrictedItems()
    spoken, renamed = CountedContributions(), CountedContributions("Radium", "Clock")
    for contributions, reads in ((spoken, 1), (renamed, 4)):
        for _ in range(2):
            await items.restrict([replace(USE, revision=reads)], DOCUMENTS, GRAPH, contributions)
        assert contributions.reads == reads
