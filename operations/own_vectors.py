"""Which generations a rebuild makes, promotes and goes back to, with those of vectors that
workspaces have for themselves because they have an embedding model of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from contracts.graph import EmbeddingModel, Generations, Projection
from operations.digest import Stores
from runtime.bus.generations import (
    GenerationState,
    OwnGeneration,
    ProjectionGenerations,
    live_generations,
)
from runtime.errors import InvalidInput
from runtime.projections.embedding import EmbeddedVectors
from runtime.projections.rebuild_candidate import Candidate

NO_OWN: Mapping[str, OwnGeneration] = {}


class OwnModel(NamedTuple):
    """What embeds a workspace, and how its model was chosen; empty: as that of the whole stack."""

    setting: str
    embedding: EmbeddedVectors


class ChosenGenerations(NamedTuple):
    """Generations of all projections, and those of vectors that workspaces have for themselves."""

    generations: Generations
    own_generations: Mapping[str, OwnGeneration]

    @classmethod
    def of(
        cls, generations: Generations, own_generations: Mapping[str, OwnGeneration]
    ) -> "ChosenGenerations":
        """Return the generations with these of workspaces in place of any others."""
        numbers = {workspace: of_one.generation for workspace, of_one in own_generations.items()}
        return cls(replace(generations, own_vectors=numbers), own_generations)


def reserve(
    pointers: ProjectionGenerations,
    targets: Sequence[Projection],
    models: Mapping[str, OwnModel],
    *,
    only_own: bool,
) -> tuple[ProjectionGenerations, ChosenGenerations]:
    """Return the pointers with new numbers given out, and the generations that a rebuild fills: one
    of each target, and one of vectors for each model of these workspaces; with `only_own` the
    latter alone.
    """
    new_pointers = dict(pointers)
    generations = live_generations(pointers)
    own_generations = dict(pointers["vectors"].own_generations)
    for target in targets:
        number = pointers[target].highest
        if not only_own:
            number += 1
            generations = generations.having(target, number)
        if target == "vectors":
            new_own = _numbered(models, number)
            own_generations = {**own_generations, **new_own} if only_own else new_own
            number = max([number, *(of_one.generation for of_one in new_own.values())])
        new_pointers[target] = replace(pointers[target], highest=number)
    return new_pointers, ChosenGenerations.of(generations, own_generations)


def _numbered(models: Mapping[str, OwnModel], highest: int) -> dict[str, OwnGeneration]:
    numbers: dict[EmbeddingModel, int] = {}
    for _, embedding in models.values():
        numbers.setdefault(embedding.model, highest + 1 + len(numbers))
    return {
        workspace: OwnGeneration(numbers[embedding.model], setting)
        for workspace, (setting, embedding) in models.items()
    }


def waiting_generations(pointers: ProjectionGenerations, candidate: Candidate) -> ChosenGenerations:
    """Return what waits for promotion. Raises InvalidInput when another rebuild of one of them has
    begun since: it has dropped them.
    """
    generations = live_generations(pointers)
    own_generations = pointers["vectors"].own_generations
    for target, generation in candidate.generations.items():
        numbers = [generation]
        if target == "vectors":
            own_generations = candidate.own_generations
            numbers += [of_one.generation for of_one in own_generations.values()]
        if pointers[target].highest != max(numbers) or pointers[target].live == generation:
            raise InvalidInput(
                f"generation {generation} of {target} cannot be promoted: start another rebuild"
            )
        generations = generations.having(target, generation)
    return ChosenGenerations.of(generations, own_generations)


def previous_generations(
    pointers: ProjectionGenerations, targets: Sequence[Projection]
) -> ChosenGenerations:
    """Return what was live before. Raises InvalidInput where nothing was."""
    generations = live_generations(pointers)
    own_generations = pointers["vectors"].own_generations
    for target in targets:
        previous_generation = pointers[target].previous
        if previous_generation is None:
            raise InvalidInput(f"{target} has no previous generation: it was never rebuilt")
        generations = generations.having(target, previous_generation)
        if target == "vectors":
            own_generations = pointers[target].previous_own_generations
    return ChosenGenerations.of(generations, own_generations)


def states_after_switch(
    before: ProjectionGenerations,
    targets: Sequence[Projection],
    new_generations: ChosenGenerations,
    complete_to: int | Sequence[int],
    *,
    emptied_before: bool,
) -> ProjectionGenerations:
    """Return the states of the targets once these generations are live. `complete_to`: the place up
    to which the former ones hold the log; `emptied_before`: they are there no more.
    """
    states: ProjectionGenerations = {}
    for target in targets:
        state = before[target]
        previous_generation = None if emptied_before else state.live
        generation = new_generations.generations.of(target)
        has_own = target == "vectors"
        states[target] = GenerationState(
            generation,
            previous_generation,
            state.highest,
            complete_to,
            new_generations.own_generations if has_own else NO_OWN,
            state.own_generations if has_own and not emptied_before else NO_OWN,
        )
    return states


async def prepare_own(models: Mapping[str, OwnModel], generations: Generations) -> None:
    """Make the collections of these workspaces. Repeats change nothing. Raises `Unavailable`."""
    for workspace, (_, embedding) in models.items():
        await embedding.vectors.prepare(generations.own_vectors[workspace])


def stores_of(stores: Stores, own_model: OwnModel | None) -> Stores:
    """Return the stores with the vectors of a workspace's own model, if it has one."""
    return replace(stores, vectors=own_model.embedding.vectors) if own_model else stores
