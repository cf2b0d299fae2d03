"""What publishers ask of the pipeline, drawn from a seed: documents added, changed, deleted; edits,
also undone.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from random import Random

from contracts.chunking import Chunking
from contracts.envelope import Envelope
from contracts.events import DocumentDeleted, Event, GraphEdited
from contracts.graph_edits import EditedValues
from contracts.values import Figure
from runtime.bus.encoded_text import EncodedText
from runtime.bus.port import Blobs
from tests.simulation.models import NEVER, NOT_YET
from tests.support.events import NOON, added, sealed

NAMES = ("Ada", "Bob", "Cleo", "Dan")
DOCUMENTS = ("d0", "d1")
MOST_PASSAGES = 2
"""Passages of a document."""
CUT = Chunking(size=1200, overlap=100, split_by_character="|")
TAILS = (*map(str, range(8)), NEVER, NOT_YET)
"""Last words of passages."""

Command = Callable[[Mapping[str, int]], Envelope[Event]]
"""Returns the event to publish, given the places in the log of those published before, by id."""


PICTURES = tuple(
    f"{name} {other_name} {tail}"
    for name, other_name in (("Ada", "Dan"), ("Bob", "Cleo"))
    for tail in ("0", "1", NEVER, NOT_YET)
)
"""What pictures of documents show."""


async def put_pictures(blobs: Blobs) -> list[Figure]:
    """Return the figures that documents may have, kept beside the log."""
    refs = [await blobs.put(EncodedText.of_bytes(text.encode()), "w") for text in PICTURES]
    return [
        Figure(number=1, sha256=ref.sha256, blob=ref, media_type="image/png", width=100, height=100)
        for ref in refs
    ]


def commands(rng: Random, pictures: Random | None, figures: Sequence[Figure]) -> list[Command]:
    """Return four to eight commands, a second apart by the clocks of their publishers. With
    `pictures` documents have up to two of the figures.
    """
    commands_drawn: list[Command] = []
    texts: list[str] = []
    edits: dict[str, GraphEdited] = {}
    for number in range(rng.randint(4, 8)):
        kind = rng.choices(("add", "delete", "edit", "undo"), (6, 2, 2, 1))[0]
        if kind == "undo" and edits:
            id = rng.choice(sorted(edits))
            commands_drawn.append(_undo(number, id, edits.pop(id)))
            continue
        if kind == "delete":
            event: Event = DocumentDeleted(document_id=rng.choice(DOCUMENTS))
        elif kind == "edit":
            event = edits[_id(number)] = _edit(rng)
        else:
            texts.append(_text(rng, texts))
            id = rng.choice(DOCUMENTS)
            event = added(id, texts[-1], chunking=CUT, figures=_figures(pictures, figures))
        commands_drawn.append(_plain(number, event))
    return commands_drawn


def _figures(pictures: Random | None, figures: Sequence[Figure]) -> tuple[Figure, ...]:
    if pictures is None:
        return ()
    chosen_figures = pictures.sample(figures, pictures.randint(0, 2))
    return tuple(
        figure.model_copy(update={"number": number})
        for number, figure in enumerate(chosen_figures, 1)
    )


def _id(number: int) -> str:
    return f"command-{number}"


def _plain(number: int, event: Event) -> Command:
    envelope = _sealed(number, event)
    return lambda places: envelope


def _undo(number: int, id: str, edit: GraphEdited) -> Command:
    def made(places: Mapping[str, int]) -> Envelope[Event]:
        undoing = GraphEdited(
            operation="undo_edit", names=edit.names, target=edit.target, undoes=places[id]
        )
        return _sealed(number, undoing)

    return made


def _sealed(number: int, event: Event) -> Envelope[Event]:
    return sealed(event, id=_id(number), time=NOON + timedelta(seconds=number))


def _text(rng: Random, before: Sequence[str]) -> str:
    """Return the passages of a document, one of them, perhaps, as another document had it."""
    passages = [_passage(rng) for _ in range(rng.randint(1, MOST_PASSAGES))]
    if before and rng.random() < 0.3:
        passages[0] = rng.choice(before).partition("|")[0]
    return "|".join(dict.fromkeys(passages))


def _passage(rng: Random) -> str:
    """Two or three names, of which each two neighbours are in a relation, and a word that tells
    passages apart.
    """
    return " ".join([*rng.sample(NAMES, rng.randint(2, 3)), rng.choice(TAILS)])


def _edit(rng: Random) -> GraphEdited:
    name, other_name = rng.sample(NAMES, 2)
    edits: Sequence[GraphEdited] = (
        GraphEdited(operation="rename_entity", names=(name,), target=f"{name} the Great"),
        GraphEdited(operation="merge_entities", names=(name,), target=other_name),
        GraphEdited(operation="delete_entity", names=(name,)),
        GraphEdited(operation="delete_relation", names=(name, other_name)),
        GraphEdited(
            operation="edit_entity",
            names=(name,),
            values=EditedValues(description=f"{name} as people say"),
        ),
    )
    return rng.choice(edits)
