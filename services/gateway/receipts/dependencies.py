"""What the routes of receipts work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.feed.port import EventFeed
from runtime.bus.port import LiveGenerations, Log
from services.gateway.dependencies import depends_on
from services.query.questions.port import Questions
from services.query.status.port import Documents, Passages
from services.query.visibility.port import Visibility


@dataclass(frozen=True)
class ReceiptDependencies:
    """The log that has the receipts, where the newest are read, what asks their questions once
    more, which documents a reader sees, and what they say now.
    """

    log: Log
    feed: EventFeed
    questions: Questions
    pointers: LiveGenerations
    visibility: Visibility
    documents: Documents
    passages: Passages


ReceiptDeps = Annotated[ReceiptDependencies, depends_on(ReceiptDependencies)]
