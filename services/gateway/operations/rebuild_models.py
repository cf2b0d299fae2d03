"""Rebuilds as the API takes and shows them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.graph import Projection
from contracts.partitions import LogPosition
from runtime.projections.operator_orders import OrderOutcome, Step
from runtime.projections.rebuild_candidate import Candidate
from runtime.projections.rebuild_lease import RunningRebuild
from services.gateway.operations.rebuilding import RebuildState
from services.gateway.strict_model import StrictModel

MOST_QUESTIONS = 20
"""Questions that both generations are asked: what they find stands in one value on the bus."""

What = Literal["status", "graph", "vectors", "all"]


class RebuildBody(StrictModel):
    """What a step is to concern. The embedding model is that of new vectors; empty: the one the
    stack runs with.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"projection": "graph", "reason": "a new server"}]}
    )

    projection: What = "all"
    events_per_second: int = Field(
        default=0, ge=0, description="of the log, at most; 0: as many as possible"
    )
    embedding_model: str = Field(default="", max_length=200, examples=[""])
    embedding_dim: int = Field(default=0, ge=0, le=65536)
    reason: str = Field(default="", max_length=1000, examples=["a new embedding model"])
    accept_worse: bool = Field(
        default=False,
        description="with `run` and `promote`: go live although golden questions fare worse",
    )
    questions: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default=[],
        max_length=MOST_QUESTIONS,
        examples=[["Who leads the Harbour Office?"]],
        description=(
            "with `start` of vectors: asked of the live and of the new ones in the workspace of "
            "the request"
        ),
    )


class OrderedStep(BaseModel):
    """A step that was begun."""

    id: str
    step: Step
    projection: What


class RebuildUnderWay(BaseModel):
    """A rebuild that holds the lease."""

    projections: list[Projection]
    host: str
    pid: int
    started: str
    reason: str
    progress: dict[str, Any] = Field(
        description=(
            "what it reported last; `done` of `total`, `rate` a second and `seconds_left` where "
            "they are known"
        )
    )

    @classmethod
    def of(cls, work: RunningRebuild) -> "RebuildUnderWay":
        """Return it without what only processes need."""
        return cls.model_validate(work, from_attributes=True)


class WaitingGenerations(BaseModel):
    """Generations that `start` has filled. `position`: the place in the log up to which they are;
    with several partitions, how many sequences stand up to there.
    """

    generations: dict[Projection, int]
    position: int

    @classmethod
    def of(cls, candidate: Candidate) -> "WaitingGenerations":
        """Return it as the API shows it."""
        position = LogPosition.of_stored(candidate.position).event_count
        return cls(generations=dict(candidate.generations), position=position)


class LastOrder(BaseModel):
    """What became of the last order; `interrupted` where the process that worked on it ended before
    it.
    """

    id: str
    step: Step
    projection: What
    who: str
    reason: str
    state: Literal["running", "done", "failed", "interrupted"]
    started: str
    ended: str
    error: str
    result: dict[str, Any] = Field(
        description="what the command says, such as digests, events and seconds"
    )

    @classmethod
    def of(cls, outcome: OrderOutcome, *, is_interrupted: bool) -> "LastOrder":
        """Return it as the API shows it."""
        order = {
            name: getattr(outcome.order, name)
            for name in ("id", "step", "projection", "who", "reason")
        }
        return cls(
            **order,
            state="interrupted" if is_interrupted else outcome.state,
            started=outcome.started,
            ended=outcome.ended,
            error=outcome.error,
            result=dict(outcome.result),
        )


class RebuildStatus(BaseModel):
    """How rebuilds stand. `takes_orders`: whether a process is there that does."""

    running: RebuildUnderWay | None
    candidate: WaitingGenerations | None
    last: LastOrder | None
    takes_orders: bool

    @classmethod
    def of(cls, state: RebuildState) -> "RebuildStatus":
        """Return it as the API shows it."""
        waits = state.candidate
        last_outcome = state.last_outcome
        return cls(
            running=RebuildUnderWay.of(state.running) if state.running else None,
            candidate=WaitingGenerations.of(waits) if waits else None,
            last=LastOrder.of(last_outcome, is_interrupted=state.is_interrupted)
            if last_outcome
            else None,
            takes_orders=state.takes_orders,
        )
