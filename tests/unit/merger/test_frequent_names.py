"""What replicas in turn keep of a name that hundreds of chunks name is what a merger without memory
makes of the same store: whatever comes, goes, changes and is summarised on the way.
"""

from random import Random
from typing import Any

import pytest

from contracts.events import DocumentDeleted, EntitiesExtracted
from contracts.graph import Generations
from services.merger.aggregate_cache import AggregateCache
from services.merger.domain.compact_aggregate import CompactAggregate
from services.merger.handler import on_extents
from tests.support.events import NOON, delivered, document, entity, extracted, relation
from tests.support.merging import SPACE, Merger
from tests.support.summarizing import Harness

KEY = ("A",)
OLDEST = 300
"""Documents that stand before all that come later, by their time."""


def says(number: int, version: int) -> EntitiesExtracted:
    """What a version of a document says of A and its tie to B."""
    version_of = document(f"d{number}", version, added_at=NOON.replace(minute=number % 60))
    if number > OLDEST:
        version_of = document(f"d{number}", version, added_at=NOON.replace(hour=20))
    text = f"text {number} in {version}"
    return extracted(version_of, 0, [entity("A", "t", text)], [relation("A", "B", text, "tie")])


async def delete(merger: Merger, number: int, sequence: int) -> None:
    """Delete a document."""
    batch: list[Any] = [delivered(DocumentDeleted(document_id=f"d{number}"), sequence)]
    await on_extents(batch, Generations(), dependencies=merger.dependencies)


async def step(dice: Random, merger: Merger, numbers: range, version: int) -> None:
    """Documents come, mostly new ones in bulk, are changed or deleted, or are summarised."""
    kind = dice.choice(["new", "new", "new", "changed", "deleted", "summarised"])
    if kind == "new":
        await merger.merge(*(says(number, version) for number in numbers))
        return
    earlier_number = dice.randrange(numbers.start)
    if kind == "changed":
        await merger.merge(says(earlier_number, version))
    elif kind == "deleted":
        await delete(merger, earlier_number, version)
    else:
        harness = Harness(merger)
        events = await merger.merge(says(numbers.start, version))
        summaries = await harness.condense(*(event for (event,) in events))
        await harness.keep(*summaries[: dice.choice([1, len(summaries)])], first=version)


@pytest.mark.parametrize("seed", range(6))
async def test_it_is_what_a_merger_without_memory_makes_of_it(seed: int) -> None:
    dice = Random(seed)
    replicas = [Merger(hubs=AggregateCache())]
    replicas.append(replicas[0].replica(8))
    await replicas[0].merge(*(says(number, 1) for number in range(OLDEST + 1)))
    assert isinstance(replicas[0].hubs.get(SPACE, [KEY])[KEY], CompactAggregate)
    start = OLDEST + 1
    for version in range(2, 26):
        numbers = range(start, start + dice.choice([1, 5, 40]))
        await step(dice, dice.choice(replicas), numbers, version)
        start = numbers.stop
    for replica in replicas:
        await replica.merge(says(start, 100))
        seen = await replica.picture()
        anew = Merger(replica.rows, replica.graph, AggregateCache(min_contributions=10**6))
        await anew.merge(says(start, 100))
        assert await anew.picture() == seen
