"""What the routes of golden questions work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.feed.port import EventFeed
from runtime.bus.port import Log
from services.gateway.dependencies import depends_on


@dataclass(frozen=True)
class GoldenDependencies:
    """The log of golden questions, runs and feedback, and where the newest of these are read.
    `QuestionDependencies` has who answers.
    """

    log: Log
    feed: EventFeed


GoldenDeps = Annotated[GoldenDependencies, depends_on(GoldenDependencies)]
