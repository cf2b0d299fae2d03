"""What publishers ask of the pipeline, drawn from a seed: documents added, changed and deleted, edits of the graph."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

from contracts.envelope import Envelope
from contracts.events import DocumentDeleted, Event, GraphEdited
from contracts.values import Chunking, EditedValues
from tests.support.events import NOON, added, sealed

NAMES = ("Ada", "Bob", "Cleo", "Dan", "Eve")
DOCUMENTS = ("d0", "d1", "d2")
MOST_PASSAGES = 3
"""Passages of a document."""
CUT = Chunking(size=1200, overlap=100, split_by_character="|")


def commands(rng: Random) -> list[Envelope[Event]]:
    """Return six to twelve events as publishers write them, a second apart."""
    events = [_event(rng) for _ in range(rng.randint(6, 12))]
    return [
        sealed(event, id=f"command-{number}", time=NOON + timedelta(seconds=number))
        for number, event in enumerate(events)
    ]


def _event(rng: Random) -> Event:
    kind = rng.choices(("add", "delete", "edit"), (6, 1, 2))[0]
    if kind == "add":
        return added(
            rng.choice(DOCUMENTS), "|".join(_passage(rng) for _ in range(rng.randint(1, MOST_PASSAGES))), chunking=CUT
        )
    if kind == "delete":
        return DocumentDeleted(document_id=rng.choice(DOCUMENTS))
    return _edit(rng)


def _passage(rng: Random) -> str:
    """Two or three names, of which each two neighbours are in a relation, and a number that tells passages apart."""
    return " ".join([*rng.sample(NAMES, rng.randint(2, 3)), str(rng.randint(0, 9))])


def _edit(rng: Random) -> GraphEdited:
    one, other = rng.sample(NAMES, 2)
    edits: Sequence[GraphEdited] = (
        GraphEdited(operation="rename_entity", names=(one,), target=f"{one} the Great"),
        GraphEdited(operation="merge_entities", names=(one,), target=other),
        GraphEdited(operation="delete_entity", names=(one,)),
        GraphEdited(operation="delete_relation", names=(one, other)),
        GraphEdited(operation="edit_entity", names=(one,), values=EditedValues(description=f"{one} as people say")),
    )
    return rng.choice(edits)
