"""EntitiesExtracted in, GraphMerged out: write what the chunk says, fold again what it touches."""

from collections import defaultdict
from collections.abc import Sequence

from contracts.events import EntitiesExtracted, GraphMerged
from contracts.graph import Generations, Space
from contracts.values import EntityRevision, RelationRevision
from runtime.bus.port import Delivery
from runtime.stores.graph.port import Graph
from services.merger.domain import contributions, fold_entity, fold_relation
from services.merger.ports import Contributions, Key


async def on_entities_extracted(
    batch: Sequence[Delivery[EntitiesExtracted]],
    generations: Generations,
    *,
    said: Contributions,
    graph: Graph,
) -> list[list[GraphMerged]]:
    """Merge a batch. A key that several of its chunks touch is folded once."""
    by_workspace: dict[str, list[Delivery[EntitiesExtracted]]] = defaultdict(list)
    for delivery in batch:
        by_workspace[delivery.workspace].append(delivery)
    merged: dict[int, GraphMerged] = {}
    for workspace, deliveries in by_workspace.items():
        merged |= await _merge(Space(workspace, generations.graph), deliveries, said, graph)
    return [[merged[delivery.sequence]] for delivery in batch]


async def _merge(
    space: Space, deliveries: Sequence[Delivery[EntitiesExtracted]], said: Contributions, graph: Graph
) -> dict[int, GraphMerged]:
    """By sequence of the delivery, what it changed."""
    newest: dict[str, EntitiesExtracted] = {}
    for event in sorted((delivery.event for delivery in deliveries), key=lambda e: e.document.version):
        newest[event.chunk.id] = event
    touched = await said.replace(
        space, {chunk: (event.document.version, contributions(event)) for chunk, event in newest.items()}
    )
    revisions = await said.revisions(space, sorted({key for keys in touched.values() for key in keys}))
    everything = await said.of(space, list(revisions))
    await graph.put(
        space,
        [fold_entity(key[0], everything[key], revision) for key, revision in revisions.items() if len(key) == 1],
        [fold_relation(key, everything[key], revision) for key, revision in revisions.items() if len(key) == 2],
    )
    return {
        delivery.sequence: _merged(delivery.event, sorted(touched[delivery.event.chunk.id]), revisions)
        for delivery in deliveries
    }


def _merged(event: EntitiesExtracted, keys: Sequence[Key], revisions: dict[Key, int]) -> GraphMerged:
    return GraphMerged(
        document=event.document,
        chunks=(event.chunk,),
        entities=tuple(EntityRevision(name=key[0], revision=revisions[key]) for key in keys if len(key) == 1),
        relations=tuple(
            RelationRevision(source=key[0], target=key[1], revision=revisions[key]) for key in keys if len(key) == 2
        ),
    )
