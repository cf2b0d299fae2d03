"""Publishes what models were paid while requests were answered: the sums of a second, once the
answers have ended.

An event of each question would cost half as much as a question of mode `naive` itself does.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import get_args
from uuid import uuid4

import structlog

from contracts.envelope import Envelope, Lineage, wrap
from contracts.events import Event, QuestionCost, QuestionsCharged, QuestionStep
from contracts.values import TokenUsage
from runtime.bus.actor import current_actor
from runtime.bus.port import Log
from runtime.concurrency.background import in_background
from runtime.errors import ServiceError
from runtime.models.call_scope import PaidCall, billed_calls, calls_for
from services.query.event_source import SOURCE

logger = structlog.get_logger(__name__)

INTERVAL = 1.0
"""Seconds of which one event has the sums. A process that is killed takes as much with it."""

MAX_UNSENT = 3600
"""Events that are kept while the log takes nothing; of more the oldest are given up."""

STEPS: dict[str, QuestionStep] = {
    **{step: step for step in get_args(QuestionStep)},
    "chat": "answer",
    "embeddings": "embedding",
}
"""Purpose of a call, or its operation where it has no other, → the step that it is part of."""

Costs = dict[tuple[QuestionStep, str], QuestionCost]
"""The sums by step and model."""


@dataclass
class Charges:
    """What was paid and is not in the log yet, by workspace and by who asked."""

    log: Log
    _costs_by_payer: dict[tuple[str, str | None], Costs] = field(
        default_factory=dict[tuple[str, str | None], Costs]
    )
    _unsent: list[Envelope[Event]] = field(default_factory=list[Envelope[Event]])

    def note(self, bill: Sequence[PaidCall]) -> None:
        """Add these calls, in the name of who asks now."""
        for call in bill:
            if call.workspace:
                payer = (call.workspace, current_actor())
                _add_call(self._costs_by_payer.setdefault(payer, {}), call)

    async def publish(self) -> None:
        """Publish what was noted. What the log does not take is tried again the next time, under
        the same id.
        """
        costs_by_payer = self._costs_by_payer
        self._costs_by_payer = {}
        for (workspace, actor), costs in costs_by_payer.items():
            event = QuestionsCharged(costs=tuple(cost for _, cost in sorted(costs.items())))
            self._unsent.append(
                wrap(
                    event,
                    id=str(uuid4()),
                    source=SOURCE,
                    workspace=workspace,
                    time=datetime.now(UTC),
                    lineage=Lineage(actor=actor),
                )
            )
        try:
            while self._unsent:
                await self.log.publish(self._unsent[0])
                del self._unsent[0]
        except ServiceError as error:
            logger.warning(
                "what questions cost is not in the log yet",
                events=len(self._unsent),
                error=str(error),
            )
            del self._unsent[:-MAX_UNSENT]

    @asynccontextmanager
    async def published_each_second(self) -> AsyncGenerator[None]:
        """Publish in the background, and the rest in the end."""
        try:
            async with in_background(self._publish_forever()):
                yield
        finally:
            await self.publish()

    async def _publish_forever(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            await self.publish()


def question_costs(calls: Sequence[PaidCall]) -> tuple[QuestionCost, ...]:
    """Return what these calls cost, summed up by step and model."""
    costs: Costs = {}
    for call in calls:
        _add_call(costs, call)
    return tuple(cost for _, cost in sorted(costs.items()))


def _add_call(costs: Costs, call: PaidCall) -> None:
    step = STEPS[call.purpose]
    before = costs.get((step, call.model)) or QuestionCost(
        step=step, model=call.model, usage=TokenUsage()
    )
    costs[step, call.model] = _with_call(before, call)


def _with_call(cost: QuestionCost, call: PaidCall) -> QuestionCost:
    return cost.model_copy(
        update={
            "usage": cost.usage + call.usage,
            "duration_ms": cost.duration_ms + round(1000 * call.seconds),
        }
    )


@asynccontextmanager
async def charged_to(workspace: str, log: Log) -> AsyncGenerator[None]:
    """Publish what the calls inside were paid for, as what questions in this workspace cost; also
    when they fail.
    """
    charges = Charges(log)
    with billed_calls() as bill, calls_for(workspace):
        try:
            yield
        finally:
            charges.note(bill)
            await charges.publish()
