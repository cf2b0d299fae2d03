"""Where one workspace stands in each projection."""

from dataclasses import dataclass

from contracts.graph import Generations, Partition


@dataclass(frozen=True)
class Spaces:
    """The spaces of one workspace."""

    status: Partition
    graph: Partition
    vectors: Partition

    @classmethod
    def of(cls, workspace: str, generations: Generations) -> "Spaces":
        """The spaces of a workspace in these generations."""
        return cls(
            Partition(workspace, generations.status),
            Partition(workspace, generations.graph),
            Partition(workspace, generations.vectors),
        )

    @property
    def all(self) -> tuple[Partition, ...]:
        """All three."""
        return self.status, self.graph, self.vectors
