"""What the routes of questions work with."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from runtime.bus.port import LiveGenerations
from services.gateway.dependencies import depends_on
from services.gateway.past.reading import Past
from services.gateway.settings import GatewaySettings
from services.query.answering.dependencies import QueryDependencies
from services.query.partitions import Partitions
from services.query.settings import QuerySettings
from services.query.status.current_partitions import CurrentPartitions
from services.query.status.port import Positions


class PastAnswers(Protocol):
    """Gives what questions about the past are answered from."""

    async def at(
        self, past: Past, workspace: str, sequence: int, deps: QueryDependencies, generation: int, /
    ) -> tuple[QueryDependencies, Partitions]:
        """Return where to search, by the embedding model of this generation of vectors, which is
        the live one.

        Raises TooLarge, Unavailable, and what embedding raises.
        """
        ...


@dataclass(frozen=True)
class QuestionDependencies:
    """What answers questions about the present and the past, and the defaults of requests."""

    answering: QueryDependencies
    current_partitions: CurrentPartitions
    positions: Positions
    pointers: LiveGenerations
    past: Past
    past_answers: PastAnswers
    settings: GatewaySettings
    question_settings: QuerySettings


QuestionDeps = Annotated[QuestionDependencies, depends_on(QuestionDependencies)]
