"""Work that is dropped for versions nobody waits for leaves the same documents, graph and vectors
as doing it.
"""

from random import Random
from typing import Any

from contracts.events import DocumentDeleted, EntitiesExtracted, VectorsIndexed
from contracts.graph import PROJECTIONS, Generations
from operations.digest import Stores, digest
from runtime.bus.document_versions import LogVersions
from runtime.bus.memory import MemoryLog
from runtime.bus.port import ALL_WANTED, DocumentVersions
from tests.support.events import added, sealed
from tests.support.pipeline import Worker, workers
from tests.support.querying import QueryHarness


def text(word: str, count: int) -> str:
    """Of so many passages, each at its own separator."""
    return "|".join(
        f"{word} Marlow met Ada Smith in {word} Town {number}." for number in range(count)
    )


STORY: list[tuple[str, str | None]] = [
    ("a", text("Zoe", 8)),
    ("b", text("Zoe", 3)),
    ("a", text("Eve", 5)),
    ("b", None),
    ("a", text("Eve", 2)),
    ("c", text("Ida", 6)),
    ("c", None),
    ("c", text("Uma", 3)),
]
"""What is published: a document's text, or that it is deleted."""


class Harness:
    """A world in which the story is told step by step, and the services work between the steps."""

    def __init__(self, versions: Any) -> None:
        self.harness, self.left = QueryHarness(log=MemoryLog()), list(enumerate(STORY))
        document_versions: DocumentVersions = versions(self.harness.log)
        self.workers: list[Worker] = workers(self.harness, document_versions)

    async def tell(self) -> None:
        number, (id, body) = self.left.pop(0)
        how: Any = {"split_by_character": "|"}
        event = DocumentDeleted(document_id=id) if body is None else added(id, body, chunking=how)
        await self.harness.log.publish(sealed(event, id=f"told-{number}"))

    async def settle(self) -> None:
        while any([await worker.step() for worker in self.workers]):
            pass

    async def digests(self) -> list[str]:
        stores = Stores(self.harness.rows, self.harness.graph, self.harness.vectors)
        return [(await digest(name, "w", Generations(), stores)).sha256 for name in PROJECTIONS]

    def count(self, kind: type) -> int:
        name = f".{kind.__name__}"
        return sum(message.subject.endswith(name) for message in self.harness.log.messages)


async def told(versions: Any, dice: Random | None = None, *, cut_first: bool = False) -> Harness:
    """The story, told at once or, by the dice, while the services work on it."""
    harness = Harness(versions)
    while harness.left:
        if dice and dice.random() < 0.9:
            await dice.choice(harness.workers).step()
        else:
            await harness.tell()
    while cut_first and await harness.workers[0].step():
        pass
    await harness.settle()
    return harness


async def test_whatever_is_dropped_the_outcome_is_the_same() -> None:
    digests = await (await told(lambda _: ALL_WANTED)).digests()
    for seed in range(4):
        dropping = await told(lambda log: LogVersions(log, look_again=0.0), Random(seed))
        assert await dropping.digests() == digests, f"with the dice of {seed}"


async def test_nothing_is_extracted_or_embedded_for_what_was_replaced_before_its_turn() -> None:
    harness = await told(lambda log: LogVersions(log, look_again=0.0), cut_first=True)
    # Both older versions of `a` were superseded by the time it was the extractor's turn, `b` and
    # the first `c` deleted.
    assert harness.count(EntitiesExtracted) == 2 + 3
    # One for a part's passages, one for each chunk's things, two for a deletion.
    assert harness.count(VectorsIndexed) == 2 + (2 + 3) + 2 * 2
    assert await harness.digests() == await (await told(lambda _: ALL_WANTED)).digests()
