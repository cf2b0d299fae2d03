"""A decision about a name is done once the list of decisions has it, too."""

from typing import Any

from contracts.graph import Partition
from services.gateway.graph import aliases
from services.gateway.graph.editing import GraphEditor
from services.query.adapters.aliases import RowAliases
from services.query.retrieval.port import AliasEdit
from tests.support.events import entity
from tests.support.graph_editing import merger
from tests.support.querying import QueryHarness


class LateAliases(RowAliases):
    """Shows a decision only when it was looked for three times, as where another one, seen late,
    has changed the entity before.
    """

    hidden_reads = 3

    async def edits(self, partition: Partition) -> list[AliasEdit]:
        edits = await super().edits(partition)
        if edits and self.hidden_reads:
            self.hidden_reads -= 1
            return edits[:-1]
        return edits


async def test_an_entity_that_has_changed_is_not_enough() -> None:
    harness = QueryHarness()
    names = ("Port Elm", "PORT ELM")
    says: Any = [([entity(name, "location", f"{name} is a port")], []) for name in names]
    await harness.index("port", *(f"{name} is a port." for name in names), says=says)
    late_aliases = LateAliases(harness.rows)
    async with merger(harness):
        editor = GraphEditor(harness.log, harness.graph, harness.pointers, "w", timeout=10)
        result = await aliases.decide(editor, late_aliases, "accept", ["PORT ELM"], "Port Elm")
    assert result.result
    assert late_aliases.hidden_reads == 0
