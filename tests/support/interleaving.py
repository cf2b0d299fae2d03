"""Stores in memory whose calls are torn apart: those of several callers mix in ways that differ
with the dice.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

from contracts.graph import Entity, Partition, Relation
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Change, Row, Table
from runtime.stores.graph.memory import MemoryGraph


class Interleaved(MemoryRows):
    """Rows written one by one in any order, with pauses between."""

    def __init__(self, dice: Random) -> None:
        super().__init__()
        self.dice = dice

    async def pause(self) -> None:
        for _ in range(
            self.dice.choice((0, 0, 1, 20))
        ):  # now and then everybody else gets far ahead
            await asyncio.sleep(0)

    async def put_newer(self, table: Table, rows: Mapping[str, Row], field: str) -> None:
        torn = list(rows.items())
        self.dice.shuffle(torn)
        for key, row in torn:
            await self.pause()
            await super().put_newer(table, {key: row}, field)

    async def find(self, *arguments: Any, **options: Any) -> list[tuple[str, Row]]:
        await self.pause()
        result = await super().find(*arguments, **options)
        await self.pause()
        return result

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        await self.pause()
        await super().put(table, rows)
        await self.pause()

    async def append(
        self, table: Table, notes: Mapping[str, str], rows: Mapping[str, Row]
    ) -> dict[str, Row]:
        await self.pause()
        await super().append(table, {}, rows)
        counters: dict[str, Row] = {}
        for key in self.dice.sample(sorted(notes), len(notes)):
            await self.pause()
            counters |= await super().append(table, {key: notes[key]}, {})
        await self.pause()
        return await super().get(table, notes)

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        written: dict[str, Row] = {}
        for key in self.dice.sample(sorted(keys), len(keys)):
            await self.pause()

            def only(stored: dict[str, Row], key: str = key) -> dict[str, Row]:
                return {it: row for it, row in change(stored).items() if it == key}

            written |= await super().update(table, [key], only)
        return written

    async def get(self, table: Table, keys: Collection[str]) -> dict[str, Row]:
        await self.pause()
        result = await super().get(table, keys)
        await self.pause()
        return result

    async def under(self, table: Table, prefixes: Collection[str]) -> list[tuple[str, Row]]:
        await self.pause()
        result = await super().under(table, prefixes)
        await self.pause()
        return result

    async def scan(self, *arguments: Any, **options: Any) -> list[tuple[str, Row]]:
        await self.pause()
        result = await super().scan(*arguments, **options)
        await self.pause()
        return result


class InterleavedGraph(MemoryGraph):
    """A graph whose writes come late."""

    def __init__(self, dice: Random) -> None:
        super().__init__()
        self.dice = dice

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        for _ in range(self.dice.randint(0, 4)):
            await asyncio.sleep(0)
        await super().put(partition, entities, relations)
