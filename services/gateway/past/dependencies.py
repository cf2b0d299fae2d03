"""What the routes of the past work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.port import Log
from services.gateway.dependencies import depends_on
from services.query.past.reading import Past
from services.query.visibility.port import Visibility


@dataclass(frozen=True)
class PastDependencies:
    """The past of all workspaces, as far as this process has read it, and the log that takes what
    undoes it.
    """

    log: Log
    past: Past
    visibility: Visibility


PastDeps = Annotated[PastDependencies, depends_on(PastDependencies)]
