"""A rebuild reminds the live services of summaries that are due and that the log lacks, and pays
for none itself.
"""

from dataclasses import asdict

import pytest

from contracts.events import DescriptionSummarized, GraphMerged
from contracts.graph import Generations, Partition
from contracts.partitions import LogPosition
from contracts.values import EntityRevision
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from operations.due_summaries import MAX_FILTERS, find_reminders
from operations.rebuild import Rebuild
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog, MemoryParkedEvents
from runtime.bus.port import Delivery
from runtime.projections.rebuild_candidate import Candidate
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings
from services.merger.summarize import on_graph_merged
from tests.support.events import NOON, sealed
from tests.support.merging import merge_dependencies
from tests.support.summarizing import CountingSummarizer, says


def merged(revision: int, generation: int = 0) -> GraphMerged:
    """An event of a release that did not say the generation, unless it is given."""
    entities = (EntityRevision(name="A", revision=revision),)
    return GraphMerged(chunks=(), entities=entities, relations=(), generation=generation)


class Stack:
    """Stores in memory, and a log in which a model was never asked for summaries."""

    def __init__(self) -> None:
        self.log, self.pointers = MemoryLog(), MemoryLiveGenerations()
        self.rows, self.graph = MemoryRows(), MemoryGraph()
        self.parked, self.summarizer = MemoryParkedEvents(self.log), CountingSummarizer()

    async def live(self, documents: int, revision: int = 1) -> int:
        """Have so many documents say something of A, and A merged. Returns the place of the event
        that says so.
        """
        for number in range(documents):
            await self.log.publish(sealed(says(number), id=f"says-{number}"))
        await self.log.publish(sealed(merged(9), id="first"))
        return await self.log.publish(sealed(merged(revision), id="last"))

    def rebuild(self) -> Rebuild:
        stores = Stores(self.rows, self.graph, MemoryVectors(LexicalEmbedder(64).model, 64))
        return Rebuild(
            self.log,
            self.pointers,
            stores,
            LexicalEmbedder(64),
            ("graph",),
            lambda _: None,
            MergerSettings(),
            parked_events=self.parked,
        )

    async def handle_parked(self) -> list[DescriptionSummarized]:
        """Handle what is parked, as the live merger does, and publish what comes of it."""
        events = [event for _, event in self.parked.records.values()]
        messages = await self.parked.originals(events)
        batch = [
            Delivery(
                decode(message.data, message.subject, message.headers),
                message.sequence,
                1,
                message.published_at,
            )
            for message in messages
        ]
        event_lists = await on_graph_merged(
            batch,  # pyright: ignore[reportArgumentType] - they are GraphMerged
            await self.pointers.live(),
            dependencies=merge_dependencies(self.rows, self.graph),
            summarizer=self.summarizer,
            debounce=quiet,
        )
        self.parked.records.clear()
        summaries = [
            event
            for of_one in event_lists
            for event in of_one
            if isinstance(event, DescriptionSummarized)
        ]
        for summary in summaries:
            await self.log.publish(sealed(summary, id=f"summary-{summary.inputs_hash}"))
        return summaries


async def quiet(_: object) -> None: ...


@pytest.mark.parametrize("revision", [1, 20])
async def test_a_due_summary_is_made_after_a_rebuild_whatever_the_revision_was(
    revision: int,
) -> None:
    stack = Stack()
    place = await stack.live(130, revision)  # noted by the rebuild as three changes
    await stack.rebuild().run("w")
    assert stack.summarizer.asked == [], "the rebuild pays nothing"
    assert list(stack.parked.records) == [("merger-summaries", place)]
    for _ in range(2):  # groups, and what is above them
        assert await stack.handle_parked()
        await stack.rebuild().run("w")
    live = Partition("w", (await stack.pointers.live()).graph)
    assert (await stack.graph.entities(live, ["A"]))["A"].description.startswith("summary of ")
    assert stack.parked.records == {}, "nothing is due any more"


async def test_nothing_is_parked_where_nothing_is_due() -> None:
    stack = Stack()
    await stack.live(7)
    await stack.rebuild().run("w")
    assert stack.parked.records == {}


async def test_what_was_filled_before_reminds_when_it_is_promoted() -> None:
    stack = Stack()
    place = await stack.live(8)
    work = stack.rebuild()
    result = await work.fill("w")
    assert stack.parked.records == {}
    reminders = [asdict(reminder) for reminder in work.reminders]
    candidate = Candidate(result["generations"], work.position.stored, (), reminders)
    await stack.rebuild().promote(candidate)
    assert list(stack.parked.records) == [("merger-summaries", place)]
    assert len(await stack.handle_parked()) == 1


async def test_reminders_name_no_event_behind_the_place_where_a_rebuild_stops() -> None:
    stack = Stack()
    place = await stack.live(8)
    for number in range(3):
        await stack.log.publish(sealed(merged(1), id=f"later-{number}"))
    work = stack.rebuild()
    work.until = LogPosition((place,))
    await work.fill("w")
    assert [reminder.sequence for reminder in work.reminders] == [place]


@pytest.mark.parametrize("workspace_count", [2, MAX_FILTERS + 1])
async def test_keys_of_each_workspace_are_reminded_of_by_its_own_events(
    workspace_count: int,
) -> None:
    log = MemoryLog()
    workspaces = [f"w{number}" for number in range(workspace_count)]
    for workspace in workspaces:
        await log.publish(sealed(merged(1), id=f"of-{workspace}", workspace=workspace))
    due_keys = {workspace: {("A",)} for workspace in workspaces[1:]}
    reminders = await find_reminders(log, due_keys, await log.end())
    assert [reminder.workspace for reminder in reminders] == workspaces[1:]


async def test_an_event_of_the_live_generation_waits_for_the_next_one_where_its_thing_has_changed() -> (  # noqa: E501
    None
):
    stack = Stack()
    await stack.live(130)
    await stack.rebuild().run("w")
    live: Generations = await stack.pointers.live()
    envelope = sealed(merged(1, live.graph))
    batch = [Delivery(envelope, 500, 1, NOON)]
    event_lists = await on_graph_merged(
        batch,  # pyright: ignore[reportArgumentType] - it is a GraphMerged
        live,
        dependencies=merge_dependencies(stack.rows, stack.graph),
        summarizer=stack.summarizer,
        debounce=quiet,
    )
    assert (event_lists, stack.summarizer.asked) == ([[]], [])
