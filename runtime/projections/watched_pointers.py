"""The live generations as readers may see them."""

from dataclasses import dataclass

from contracts.graph import Generations, Projection
from runtime.bus.generations import ProjectionGenerations
from runtime.bus.port import LiveGenerations
from runtime.projections.integrity import Integrity


@dataclass(frozen=True)
class WatchedPointers:
    """`LiveGenerations` for readers: it hides generations whose store has lost data."""

    pointers: LiveGenerations
    integrity: Integrity

    async def read(self) -> tuple[ProjectionGenerations, int]:
        """See `LiveGenerations`."""
        return await self.pointers.read()

    async def write(self, pointers: ProjectionGenerations, revision: int) -> None:
        """See `LiveGenerations`."""
        await self.pointers.write(pointers, revision)

    async def live(self, *projections: Projection) -> Generations:
        """See `LiveGenerations`. Raises `StoreBehind`."""
        self.integrity.require(*projections)
        return await self.pointers.live(*projections)
