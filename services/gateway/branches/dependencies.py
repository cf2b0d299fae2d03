"""What the routes of branches work with."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Path

from contracts.graph import Partition
from runtime.bus.port import LiveGenerations, Log
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.stores.graph.port import Graph
from services.gateway.dependencies import depends_on
from services.query.partitions import status_partition
from services.query.status.port import Documents

COMPARISONS_AT_ONCE = 1
"""Comparisons that read two whole graphs at once: the others wait for their turn."""


@dataclass(frozen=True)
class BranchDependencies:
    """The log, which has the branches, and where their documents and graphs are read."""

    log: Log
    pointers: LiveGenerations
    documents: Documents
    graph: Graph
    turns: FairSemaphore = field(default_factory=lambda: FairSemaphore(COMPARISONS_AT_ONCE))

    async def status(self, workspace: str) -> Partition:
        """Return where the status of a branch's documents is read."""
        return await status_partition(self.pointers, workspace)


BranchDeps = Annotated[BranchDependencies, depends_on(BranchDependencies)]
BranchName = Annotated[str, Path(max_length=64, examples=["small"])]
