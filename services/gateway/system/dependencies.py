"""What the routes about the service itself work with."""

from dataclasses import dataclass
from typing import Annotated

from runtime.bus.port import LiveGenerations
from services.gateway.dependencies import depends_on
from services.gateway.settings import GatewaySettings
from services.query.questions.port import Questions
from services.query.status.port import Documents


@dataclass(frozen=True)
class SystemDependencies:
    """The settings that are shown, and what tells how the service does."""

    settings: GatewaySettings
    questions: Questions
    pointers: LiveGenerations
    documents: Documents


SystemDeps = Annotated[SystemDependencies, depends_on(SystemDependencies)]
