"""What the routes of events work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.feed.port import EventFeed
from runtime.bus.port import LiveGenerations, Log
from runtime.costs.prices import Prices
from services.gateway.dependencies import depends_on
from services.gateway.feeds.streams import EventStreams
from services.query.retrieval.port import ProvenanceReader
from services.query.status.port import Documents, Passages
from services.query.visibility.port import Visibility


@dataclass(frozen=True)
class FeedDependencies:
    """Where events are read, and what is shown beside those of one document. `prices` tell what an
    event cost.
    """

    log: Log
    feed: EventFeed
    streams: EventStreams
    pointers: LiveGenerations
    documents: Documents
    visibility: Visibility
    passages: Passages
    provenance: ProvenanceReader
    prices: Prices


FeedDeps = Annotated[FeedDependencies, depends_on(FeedDependencies)]
