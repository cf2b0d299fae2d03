"""Where questions are answered from: read seldom, and never with a position that the generation
does not hold.
"""

from dataclasses import replace

from contracts.graph import PROJECTIONS, Partition
from runtime.bus.generations import GenerationState
from runtime.bus.memory import MemoryLiveGenerations
from services.query.status.current_partitions import CACHE_SECONDS, CurrentPartitions


class Positions:
    """Positions that count how often they are read; `meanwhile` happens during the next read."""

    def __init__(self) -> None:
        self.reads: list[Partition] = []
        self.meanwhile: int | None = None
        self.pointers = MemoryLiveGenerations()

    async def of(self, partition: Partition) -> int:
        self.reads.append(partition)
        if self.meanwhile is not None:
            states, revision = await self.pointers.read()
            state = replace(states["status"], live=self.meanwhile)
            await self.pointers.write(
                {**{name: GenerationState() for name in PROJECTIONS}, "status": state}, revision
            )
            self.meanwhile = None
        return 100 * partition.generation

    async def wait_for(self, partition: Partition, position: int, seconds: float) -> int:
        raise AssertionError("nobody waits")


async def test_they_are_read_once_in_a_while() -> None:
    now = 0.0
    positions = Positions()
    current_partitions = CurrentPartitions(positions.pointers, positions, lambda: now)
    for _ in range(3):
        partitions, position = await current_partitions.of("w")
        assert partitions.status == Partition("w", 1) and position == 100
    assert len(positions.reads) == 1
    await current_partitions.of("other")
    now += CACHE_SECONDS
    await current_partitions.of("w")
    assert positions.reads == [Partition("w", 1), Partition("other", 1), Partition("w", 1)]


async def test_a_position_is_never_newer_than_the_generation_it_is_said_of() -> None:
    positions = Positions()
    positions.meanwhile = 2
    partitions, position = await CurrentPartitions(positions.pointers, positions).of("w")
    assert partitions.status == Partition("w", 2) and position == 200
