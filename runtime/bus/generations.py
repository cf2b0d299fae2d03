"""Which generation of each projection is live, and which was before, as one value on the bus says
it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from contracts.graph import Generations, Projection


@dataclass(frozen=True)
class OwnGeneration:
    """The generation of vectors that a workspace and its branches have for themselves, and the
    embedding model that was chosen for them; empty: that of the whole stack.
    """

    generation: int
    model: str = ""


@dataclass(frozen=True)
class GenerationState:
    """The live generation of one projection, the one before it, and the greatest number given
    out.
    """

    live: int = 1
    previous: int | None = None
    highest: int = 1
    """The greatest number ever given out; a half-built generation is never used again."""
    complete_to: int | Sequence[int] = 0
    """Place in the log, as it is stored, up to which the previous generation holds everything:
    going back to it catches up from there.
    """
    own_generations: Mapping[str, OwnGeneration] = field(default_factory=dict[str, OwnGeneration])
    """Of vectors: the generations of workspaces that have their own, beside the live one."""
    previous_own_generations: Mapping[str, OwnGeneration] = field(
        default_factory=dict[str, OwnGeneration]
    )
    """Those that there were beside the previous one."""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "GenerationState":
        """Return the state of these fields, as `fields` has them. Raises TypeError for others."""
        state = cls(**fields)
        own_generations = _parsed(state.own_generations)
        previous_own_generations = _parsed(state.previous_own_generations)
        return replace(
            state,
            own_generations=own_generations,
            previous_own_generations=previous_own_generations,
        )

    def fields(self) -> dict[str, Any]:
        """Return the fields as JSON has them, without those that an older program does not know
        where nothing is in them.
        """
        return {
            name: value
            for name, value in asdict(self).items()
            if value or name not in ("own_generations", "previous_own_generations")
        }

    @property
    def own_numbers(self) -> dict[str, int]:
        """Return the numbers of the generations of workspaces that have their own."""
        return {
            workspace: of_workspace.generation
            for workspace, of_workspace in self.own_generations.items()
        }

    @property
    def kept_generations(self) -> set[int]:
        """Return the numbers that are live or were before the last switch."""
        of_workspaces = [*self.own_generations.values(), *self.previous_own_generations.values()]
        numbers = {self.live, *(of_workspace.generation for of_workspace in of_workspaces)}
        return numbers if self.previous is None else {*numbers, self.previous}


def _parsed(states: Mapping[str, Any]) -> dict[str, OwnGeneration]:
    return {workspace: OwnGeneration(**fields) for workspace, fields in states.items()}


ProjectionGenerations = dict[Projection, GenerationState]


def live_generations(pointers: ProjectionGenerations) -> Generations:
    """Return the generations that are live."""
    numbers = {name: pointer.live for name, pointer in pointers.items()}
    return Generations(**numbers, own_vectors=pointers["vectors"].own_numbers)
