"""Methods that show what could not be handled."""

from typing import Literal

from lightstream_rag.flows import Flow, get, parse_as
from lightstream_rag.models import ResponseModel


class ParkedEvents(ResponseModel):
    """Events that wait outside of their consumers for one reason; `first` is the sequence of the
    first of them.
    """

    workspace: str
    reason: Literal["newer-version", "over-budget", "awaiting-batch", "retried"]
    events: int
    durables: list[str]
    first: int
    type: str
    version: int
    document: str
    error: str
    summary: str


class ParkedList(ResponseModel):
    """What is parked, by reason."""

    parked: list[ParkedEvents]


def parked_events() -> Flow[list[ParkedEvents]]:
    """Return how many events of the workspace are parked, by reason."""
    answer = yield from get("/operations/parked", parse_as(ParkedList))
    return answer.parked
