"""The envelope of every event: CloudEvents 1.0, structured JSON mode, with our extensions.

Extensions (lower case, as CloudEvents asks): `workspace` (the tenant), `causationid` (the event
that caused this one), `correlationid` (the DocumentAdded or command that began it all),
`traceparent` (W3C Trace Context) and `actor` (in whose name it was published). Any CloudEvents
library can write it; unknown extensions are ignored.
"""

import re
from datetime import datetime
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from contracts.events import Event
from contracts.ids import WORKSPACE_PATTERN
from contracts.text import encodable, one_line

E = TypeVar("E", bound=Event, covariant=True)

TYPE_PREFIX = "lightstream."
_TYPE = re.compile(r"lightstream\.([A-Z][A-Za-z]{1,63})\.v([1-9][0-9]{0,3})")

MAX_ACTOR = 256
"""Characters of an actor."""


def _readable_actor(value: object) -> str | None:
    # A foreign publisher may have meant something else by the name: that makes no event unreadable.
    return (
        one_line(encodable(value))[:MAX_ACTOR].strip() or None if isinstance(value, str) else None
    )


class Header(BaseModel):
    """The attributes of an envelope, without its data."""

    model_config = ConfigDict(frozen=True, extra="ignore", regex_engine="python-re")

    specversion: Literal["1.0"] = "1.0"
    id: str = Field(min_length=1, max_length=256)
    source: str = Field(min_length=1, max_length=512)
    type: str = Field(description="`lightstream.<EventType>.v<version>`")
    subject: str | None = Field(default=None, max_length=512, description="the document's id")
    time: AwareDatetime | None = Field(
        default=None, description="without one, the time the log took it"
    )
    datacontenttype: Literal["application/json"] = "application/json"
    dataschema: str | None = None
    workspace: str = Field(pattern=WORKSPACE_PATTERN)
    causationid: str | None = Field(default=None, max_length=256)
    correlationid: str | None = Field(default=None, max_length=256)
    traceparent: str | None = Field(default=None, max_length=128)
    actor: Annotated[str | None, BeforeValidator(_readable_actor)] = Field(
        default=None, max_length=MAX_ACTOR
    )


class Envelope(Header, Generic[E]):
    """An event with its attributes."""

    data: E

    @property
    def correlation(self) -> str:
        """The event that began it all: this one, if it names no other."""
        return self.correlationid or self.id


def type_attribute(event_type: str, version: int) -> str:
    """The `type` attribute: `lightstream.DocumentAdded.v1`."""
    return f"{TYPE_PREFIX}{event_type}.v{version}"


def parse_type(attribute: str) -> tuple[str, int]:
    """`lightstream.DocumentAdded.v1` → ("DocumentAdded", 1). Raises ValueError with the form."""
    match = _TYPE.fullmatch(attribute)
    if not match:
        raise ValueError(
            f"type {attribute!r:.100} is not of the form lightstream.<EventType>.v<version>"
        )
    return match[1], int(match[2])


class Lineage(NamedTuple):
    """Where an event comes from: ids of the event that caused it and of the one that began it all,
    trace and actor.

    What a service makes of another event has no actor: the event that began it all has one.
    """

    causation: str | None = None
    correlation: str | None = None
    traceparent: str | None = None
    actor: str | None = None


NO_LINEAGE = Lineage()


def wrap(
    event: E,
    *,
    id: str,
    source: str,
    workspace: str,
    time: datetime,
    lineage: Lineage = NO_LINEAGE,
) -> Envelope[E]:
    """Put an event into its envelope."""
    return Envelope(
        id=id,
        source=source,
        type=type_attribute(event.type_name(), event.version),
        subject=event.aggregate_id,
        time=time,
        dataschema=f"urn:lightstream:schema:{event.type_name()}.v{event.version}",
        workspace=workspace,
        causationid=lineage.causation,
        correlationid=lineage.correlation,
        traceparent=lineage.traceparent,
        actor=lineage.actor,
        data=event,
    )
