"""A library whose documents are in the log and in the stores alike, so that it has a past."""

from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from tests.support.events import NOON, added, chunked, document, entity, extracted, relation, sealed
from tests.support.querying import QueryHarness

HARBOUR = (
    "Ada Marlow leads the Harbour Office of Port Elm.",
    "The Harbour Office keeps the lighthouse.",
)
HARBOUR_SAYS = (
    (
        [entity("Ada Marlow", "person", "leads"), entity("Harbour Office", "organization")],
        [relation("Ada Marlow", "Harbour Office", "She leads it")],
    ),
    (
        [entity("Lighthouse", "place", "kept by the office")],
        [relation("Harbour Office", "Lighthouse", "It keeps it")],
    ),
)
FERRY = ("The ferry belongs to Ada Marlow, and calls at the lighthouse.",)
FERRY_SAYS = (
    (
        [entity("Ferry", "thing", "a boat")],
        [
            relation("Ada Marlow", "Ferry", "It belongs to her"),
            relation("Ferry", "Lighthouse", "It calls there"),
        ],
    ),
)
BEFORE_THE_FERRY = "4"
"""The place in the log at which the harbour is told of, and the ferry is not."""


async def logged_library() -> QueryHarness:
    """A document about a harbour, and a later one about a ferry."""
    harness = QueryHarness()
    for name, version, passages, says in (
        ("harbour", 1, HARBOUR, HARBOUR_SAYS),
        ("ferry", 5, FERRY, FERRY_SAYS),
    ):
        await harness.index(name, *passages, says=says, version=version)
        of = document(name, version, file_path=f"{name}.txt")
        events = (
            added(name, "\n".join(passages), file_path=f"{name}.txt"),
            chunked(of, *passages),
            *(extracted(of, order, *told) for order, told in enumerate(says)),
        )
        for number, event in enumerate(events):
            await harness.log.publish(sealed(event, id=f"{name}-{number}"))
    (_, _, _, _, ferry, *_) = harness.log.messages
    assert isinstance(decode(ferry.data, ferry.subject).data, DocumentAdded)
    return harness


async def logged_discovery() -> QueryHarness:
    """A document about a discovery."""
    harness = QueryHarness()
    passages = ("Marie Curie discovered radium in Paris.", "Radium glows in the dark.")
    version = document("curie", 1, file_path="curie.txt")
    says = (
        [entity("Marie Curie", "person", "She discovered radium"), entity("Radium", "data", "It")],
        [relation("Marie Curie", "Radium", "Marie Curie discovered radium", "discovery")],
    )
    text = added("curie", "\n".join(passages))
    for event in (text, chunked(version, *passages), extracted(version, 0, *says)):
        await harness.log.publish(sealed(event, id=event.type_name(), time=NOON))
    await harness.index("curie", *passages, says=(says,))
    return harness
