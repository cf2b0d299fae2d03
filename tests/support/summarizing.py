"""A merger with its summariser over stores in memory, and the log between them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from contracts.events import DescriptionSummarized, EntitiesExtracted, GraphMerged
from contracts.graph import Generations
from contracts.values import TokenUsage
from knowledge.descriptions import Group
from services.merger.handler import on_description_summarized
from services.merger.port import Summary
from services.merger.summarize import on_graph_merged
from tests.support.events import delivered, document, entity, extracted
from tests.support.merging import Merger


class CountingSummarizer:
    """Counts what it is asked, and makes a text that names how much it read."""

    model = "condenser"
    prompt_version = "1"

    def __init__(self) -> None:
        self.asked: list[Group] = []
        self.error: Exception | None = None

    async def summarize(self, workspace: str, group: Group) -> Summary:
        self.asked.append(group)
        if self.error:
            raise self.error
        return Summary(f"summary of {len(group.texts)} texts", TokenUsage(prompt=5, completion=2))


def says(number: int) -> EntitiesExtracted:
    """What document `number` says of A: a description of its own."""
    return extracted(document(f"d{number}", number + 1), 0, [entity("A", "t", f"text {number}")])


class Harness:
    """A merger and its summariser, with the log between them."""

    def __init__(self, merger: Merger | None = None) -> None:
        self.merger, self.summarizer, self.place = merger or Merger(), CountingSummarizer(), 0
        self.waits: list[datetime] = []
        self.summaries: list[DescriptionSummarized] = []
        """What it kept, in the order of the log."""

    async def says(self, count: int, first: int = 0) -> list[GraphMerged]:
        """Merge what documents `first` up to `count` say, in one batch."""
        return [event for (event,) in await self.merger.merge(*map(says, range(first, count)))]

    async def condense(self, *events: GraphMerged) -> list[Any]:
        """What the summariser says to these; it is told of them in one batch."""

        async def quiet(since: datetime) -> None:
            self.waits.append(since)

        batch = [delivered(event, 1000 + n) for n, event in enumerate(events)]
        made = await on_graph_merged(
            batch,
            Generations(),
            dependencies=self.merger.dependencies,
            summarizer=self.summarizer,
            debounce=quiet,
        )
        return [event for of_one in made for event in of_one]

    async def keep(
        self,
        *events: DescriptionSummarized,
        first: int = 2000,
        generations: Generations | None = None,
    ) -> list[GraphMerged]:
        """Keep these summaries, which stand in the log from `first` on."""
        self.summaries += events
        batch = [delivered(event, first + n) for n, event in enumerate(events)]
        made = await on_description_summarized(
            batch, generations or Generations(), dependencies=self.merger.dependencies
        )
        return [event for of_one in made for event in of_one]

    async def settle(self, events: Sequence[GraphMerged], first: int = 2000) -> int:
        """Condense and keep until nothing lacks. Returns the calls that took."""
        before = len(self.summarizer.asked)
        while events:
            summaries = await self.condense(*events)
            events = await self.keep(*summaries, first=first + len(self.summarizer.asked))
        return len(self.summarizer.asked) - before

    async def description(self) -> str:
        """What the graph says of A."""
        return (await self.merger.entities())["A"].description
