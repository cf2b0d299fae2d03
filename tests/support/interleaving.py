"""Stores in memory whose calls are torn apart: those of several callers mix in ways that differ with the dice."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from contracts.graph import Entity, Partition, Relation
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Row, Table
from runtime.stores.graph.memory import MemoryGraph


class Interleaved(MemoryRows):
    """Rows written one by one in any order, with pauses between."""

    def __init__(self, dice: Random) -> None:
        super().__init__()
        self.dice = dice

    async def pause(self) -> None:
        for _ in range(self.dice.choice((0, 0, 1, 20))):  # now and then everybody else gets far ahead
            await asyncio.sleep(0)

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        torn = list(rows.items())
        self.dice.shuffle(torn)
        for key, row in torn:
            await self.pause()
            await super().put_newer(table, {key: row}, field)

    async def find(self, *arguments: Any, **options: Any) -> list[tuple[str, Row]]:
        await self.pause()
        found = await super().find(*arguments, **options)
        await self.pause()
        return found

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        await self.pause()
        await super().put(table, rows)
        await self.pause()

    async def increment(self, *arguments: Any) -> dict[str, int]:
        await self.pause()
        found = await super().increment(*arguments)
        await self.pause()
        return found

    async def scan(self, *arguments: Any, **options: Any) -> list[tuple[str, Row]]:
        await self.pause()
        found = await super().scan(*arguments, **options)
        await self.pause()
        return found


class InterleavedGraph(MemoryGraph):
    """A graph whose writes come late."""

    def __init__(self, dice: Random) -> None:
        super().__init__()
        self.dice = dice

    async def put(self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]) -> None:
        for _ in range(self.dice.randint(0, 4)):
            await asyncio.sleep(0)
        await super().put(partition, entities, relations)
