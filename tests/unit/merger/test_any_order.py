"""The graph is a function of the set of events: any order, repetition, batching and number of
replicas; and what is deleted leaves it as if it had never been there.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from contracts.events import ChunksCreated, DocumentDeleted, EntitiesExtracted, GraphEdited
from contracts.graph import Generations
from contracts.graph_edits import EditedValues
from runtime.bus.port import Delivery
from services.merger.handler import on_entities_extracted, on_extents, on_graph_edited
from tests.support.events import NOON, chunked, delivered, document, entity, extracted, relation
from tests.support.interleaving import Interleaved, InterleavedGraph
from tests.support.merging import Merger
from tests.support.shares import share

NAMES = ["Ada", "Bert", "Celia", "Dorian", "Edith"]
HANDLERS: dict[type, Any] = {
    EntitiesExtracted: on_entities_extracted,
    ChunksCreated: on_extents,
    DocumentDeleted: on_extents,
    GraphEdited: on_graph_edited,
}
Log = list[Delivery[Any]]
NEVER = 10**6
"""Contributions from which on a replica remembers a thing, when it is never to."""


def version(dice: Random, id: str, sequence: int) -> Log:
    """The events of one version of a document: its chunks, and what each says."""
    of = document(id, sequence, added_at=NOON.replace(minute=sequence % 60), file_path=f"{id}.txt")
    contents = [f"text {dice.random()}" for _ in range(dice.randint(1, 4))]
    events: Log = [delivered(chunked(of, *contents), sequence + 1)]
    for order in range(len(contents)):
        names = dice.sample(NAMES, dice.randint(0, 3))
        ties = [
            relation(*dice.sample(NAMES, 2), f"tie {dice.random()}", "k", weight=dice.randint(1, 3))
        ]
        says = [entity(name, dice.choice("xyz"), f"{name} {dice.random():.3f}") for name in names]
        events.append(
            delivered(extracted(of, order, says, ties if names else ()), sequence + 2 + order)
        )
    return events


def edit(dice: Random, sequence: int) -> Delivery[Any]:
    """Some edit of some names."""
    name, other_name = dice.sample(NAMES, 2)
    values = EditedValues(type="edited", description=f"said by hand at {sequence}")
    return delivered(
        dice.choice(
            [
                GraphEdited(operation="edit_entity", names=(name,), values=values),
                GraphEdited(operation="create_entity", names=(f"New {name}",), values=values),
                GraphEdited(operation="delete_entity", names=(name,)),
                GraphEdited(
                    operation="rename_entity",
                    names=(name,),
                    target=dice.choice([other_name, f"Sir {name}"]),
                ),
                GraphEdited(
                    operation="merge_entities", names=(name, f"Sir {name}"), target=other_name
                ),
                GraphEdited(operation="accept_alias", names=(name,), target=other_name),
                GraphEdited(operation="accept_alias", names=(name,), target=other_name),
                GraphEdited(operation="undo_alias", names=(name,), target=other_name),
                GraphEdited(operation="reject_alias", names=(name,), target=other_name),
                GraphEdited(
                    operation="split_entity",
                    names=(name,),
                    target=f"{name} the other",
                    documents=("a",),
                ),
                GraphEdited(
                    operation="split_entity", names=(name,), target=other_name, documents=("b", "c")
                ),
                GraphEdited(
                    operation="split_entity",
                    names=(f"{name} the other",),
                    target="Third",
                    documents=("a", "b"),
                ),
                GraphEdited(
                    operation="create_relation",
                    names=(name, other_name),
                    values=EditedValues(description="by hand"),
                ),
                GraphEdited(
                    operation="edit_relation",
                    names=(name, other_name),
                    values=EditedValues(weight=7.0),
                ),
                GraphEdited(operation="delete_relation", names=(name, other_name)),
            ]
        ),
        sequence,
    )


def history(dice: Random, edits: int) -> dict[int, tuple[str, Log]]:
    """Events by the place in the log of what began them, with the document's id."""
    result: dict[int, tuple[str, Log]] = {}
    for place in range(100, 1000, 100):
        id = dice.choice(["a", "b", "c"])
        if dice.random() < 0.25:
            result[place] = (id, [delivered(DocumentDeleted(document_id=id), place)])
        else:
            result[place] = (id, version(dice, id, place))
    for place in dice.sample(range(150, 1000, 50), edits):
        result[place + 7] = ("_graph", [edit(dice, place + 7)])
    return dict(sorted(result.items()))


def events(log: dict[int, tuple[str, Log]]) -> Log:
    return [event for _, of_one in log.values() for event in of_one]


async def picture(
    merger: Merger, arrivals: Sequence[Log], min_contributions: int = 1
) -> dict[Any, Any]:
    """The graph after each replica, with a memory of its own, has handled its batches."""

    async def replica(deliveries: Log) -> None:
        dependencies = merger.replica(min_contributions).dependencies
        for start in range(0, len(deliveries), 3):
            for kind, handler in HANDLERS.items():
                batch = [d for d in deliveries[start : start + 3] if type(d.event) is kind]
                if batch:
                    await handler(batch, Generations(), dependencies=dependencies)

    await asyncio.gather(*map(replica, arrivals))
    return await merger.picture()


@pytest.mark.parametrize("seed", share(range(60), daily=5))
async def test_any_arrival_on_any_number_of_replicas_gives_the_same_graph(seed: int) -> None:
    dice = Random(seed)
    log = events(history(dice, edits=dice.choice([0, 0, 1, 3, 6])))
    in_order = await picture(Merger(), [log], NEVER)
    arrivals = log + dice.choices(log, k=len(log) // 3)
    dice.shuffle(arrivals)
    replicas = dice.randint(1, 4)
    merger = Merger(Interleaved(dice), InterleavedGraph(dice))
    assert await picture(merger, [arrivals[n::replicas] for n in range(replicas)]) == in_order


@pytest.mark.parametrize("seed", share(range(40), daily=5))
async def test_a_deleted_document_leaves_the_graph_as_if_it_had_never_been(seed: int) -> None:
    dice = Random(seed)
    log = history(dice, edits=dice.choice([0, 2, 5]))
    never = events({place: entry for place, entry in log.items() if entry[0] != "a"})
    arrivals = [*events(log), delivered(DocumentDeleted(document_id="a"), 5000)]
    dice.shuffle(arrivals)
    assert await picture(Merger(), [arrivals]) == await picture(Merger(), [never])


@pytest.mark.parametrize("seed", share(range(20), daily=5))
async def test_an_older_version_leaves_nothing_but_what_the_newest_says(seed: int) -> None:
    dice = Random(seed)
    old_version = version(dice, "a", 100)
    new_version = version(dice, "a", 200)
    arrivals = [*old_version, *new_version]
    dice.shuffle(arrivals)
    # Chunks the newer text does not say anew: there are none, so only the newer version may be
    # left.
    assert await picture(Merger(), [arrivals]) == await picture(Merger(), [new_version])


@pytest.mark.parametrize(
    "operation", ["rename_entity", "delete_entity", "edit_entity", "create_relation"]
)
async def test_an_edit_and_a_chunk_at_the_same_moment_both_count(operation: Any) -> None:
    names = ("Ada", "Celia") if operation == "create_relation" else ("Ada",)
    target = "Sir Ada" if operation == "rename_entity" else None
    graph_edit = GraphEdited(
        operation=operation, names=names, target=target, values=EditedValues(description="by hand")
    )
    says = extracted(document("a", 100), 0, [entity("Ada")], [relation("Ada", "Bert")])
    log = [delivered(says, 102), delivered(graph_edit, 150)]
    in_order = await picture(Merger(), [log])
    for seed in range(120):
        dice = Random(seed)
        merger = Merger(Interleaved(dice), InterleavedGraph(dice))
        assert await picture(merger, [[log[0]], [log[1]]]) == in_order, seed
