"""The partitions that one workspace has in the three projections."""

from dataclasses import dataclass

from contracts.graph import Generations, Partition
from runtime.bus.port import LiveGenerations


@dataclass(frozen=True)
class Partitions:
    """The partitions of one workspace, one for each projection."""

    status: Partition
    graph: Partition
    vectors: Partition

    @classmethod
    def of(cls, workspace: str, generations: Generations) -> "Partitions":
        """Return the partitions of a workspace in these generations."""
        return cls(
            Partition(workspace, generations.status),
            Partition(workspace, generations.graph),
            Partition(workspace, generations.of_workspace(workspace).vectors),
        )

    @property
    def all(self) -> tuple[Partition, ...]:
        """All three partitions."""
        return self.status, self.graph, self.vectors


async def status_partition(pointers: LiveGenerations, workspace: str) -> Partition:
    """Return where the status of the workspace's documents, and its costs, are read now. Raises
    what `LiveGenerations.live` raises.
    """
    return Partition(workspace, (await pointers.live("status")).status)


async def graph_partition(pointers: LiveGenerations, workspace: str) -> Partition:
    """Return where the graph of the workspace is read now. Raises what `LiveGenerations.live`
    raises.
    """
    return Partition(workspace, (await pointers.live("graph")).graph)
