"""Where one workspace stands in each projection."""

from dataclasses import dataclass

from contracts.graph import Generations, Space


@dataclass(frozen=True)
class Spaces:
    """The spaces of one workspace."""

    status: Space
    graph: Space
    vectors: Space

    @classmethod
    def of(cls, workspace: str, generations: Generations) -> "Spaces":
        """The spaces of a workspace in these generations."""
        return cls(
            Space(workspace, generations.status),
            Space(workspace, generations.graph),
            Space(workspace, generations.vectors),
        )

    @property
    def all(self) -> tuple[Space, ...]:
        """All three."""
        return self.status, self.graph, self.vectors
