"""What the routes of questions work with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from runtime.bus.port import LiveGenerations
from services.gateway.dependencies import depends_on
from services.gateway.promoted_branches import PromotedBranches
from services.gateway.settings import GatewaySettings
from services.query.past.reading import Past
from services.query.questions.port import Questions
from services.query.status.current_partitions import CurrentPartitions
from services.query.status.port import Positions

CountTokens = Callable[[str], int]
"""Returns the tokens of a text."""


@dataclass(frozen=True)
class QuestionDependencies:
    """Who answers questions, and what says where they are answered from."""

    questions: Questions
    current_partitions: CurrentPartitions
    positions: Positions
    pointers: LiveGenerations
    past: Past
    branches: PromotedBranches
    settings: GatewaySettings
    count_tokens: CountTokens


QuestionDeps = Annotated[QuestionDependencies, depends_on(QuestionDependencies)]
