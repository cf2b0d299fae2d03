"""Makes a run of golden questions: asks, streams how each fared, and records it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from contracts.events import GoldenQuestionSet, GoldenRunEnded
from runtime.bus.feed.port import EventFeed
from runtime.errors import Unavailable
from runtime.golden.judging import GivenAnswer
from runtime.golden.questions import GoldenQuestion, GoldenRun, newest_runs, publish
from runtime.golden.running import GoldenOutcome, ask_all
from services.gateway.errors import describe_error
from services.gateway.golden.dependencies import GoldenDependencies
from services.gateway.golden.models import GoldenResultEntry, GoldenRunEntry
from services.query.event_source import SOURCE
from services.query.questions.judged_answer import given_answer
from services.query.questions.port import QuestionRequest, Questions, SearchPlace

PATH = "/golden-runs"


@dataclass(frozen=True)
class GoldenOrder:
    """What is to be asked, and where. `position`: see `GoldenRunEnded`."""

    workspace: str
    questions: Sequence[GoldenQuestion]
    place: SearchPlace
    position: int
    reason: str = ""
    branch: str = ""


async def runs_of(
    feed: EventFeed, workspace: str, questions: Sequence[GoldenQuestion]
) -> list[GoldenRun]:
    """Return the runs, oldest first, that tell how these questions fared last; none that are older
    than all of these.
    """
    waiting_ids = {question.id for question in questions}
    first_sequence = min((question.sequence for question in questions), default=0)
    runs: list[GoldenRun] = []
    if not questions:
        return runs
    async with aclosing(newest_runs(feed, workspace)) as newest:
        async for run in newest:
            if run.sequence < first_sequence:
                break
            runs.append(run)
            if run.event.is_of_live:
                waiting_ids -= {result.id for result in run.event.results}
            if not waiting_ids:
                break
    return runs[::-1]


async def run_lines(
    order: GoldenOrder, answering: Questions, deps: GoldenDependencies
) -> AsyncGenerator[str]:
    """Yield a line of JSON for each question, in their order, and one for the run, which is in the
    log then.

    Nothing is recorded of a run that its reader leaves.
    """

    async def ask(question: GoldenQuestionSet) -> GivenAnswer:
        request = QuestionRequest(query=question.question, place=order.place, mode=question.mode)
        return given_answer(await answering.ask(request))

    outcomes: list[GoldenOutcome] = []
    total = len(order.questions)
    async with aclosing(ask_all(order.questions, ask, _describe)) as outcome_stream:
        async for outcome in outcome_stream:
            outcomes.append(outcome)
            yield _line(result=_result(outcome), question=outcome.question.event.question, of=total)
    run = await _recorded(order, outcomes, deps)
    yield _line(run=GoldenRunEntry.of(run, order.questions).model_dump(mode="json"))


async def _recorded(
    order: GoldenOrder, outcomes: Sequence[GoldenOutcome], deps: GoldenDependencies
) -> GoldenRun:
    event = GoldenRunEnded(
        results=tuple(outcome.result for outcome in outcomes),
        position=order.position,
        as_of=order.place.sequence is not None,
        branch=order.branch,
        by_model=any(outcome.answer and outcome.answer.by_model for outcome in outcomes),
        reason=order.reason,
    )
    id = await publish(deps.log, order.workspace, event, SOURCE)
    async with aclosing(newest_runs(deps.feed, order.workspace)) as runs:
        async for run in runs:
            if run.id == id:
                return run
    raise Unavailable(f"the run {id} is recorded, but cannot be read yet")


def _describe(error: Exception) -> str:
    return describe_error(error, PATH)[1]


def _result(outcome: GoldenOutcome) -> dict[str, Any]:
    expectation = outcome.question.event.expected
    answer = outcome.answer.text if outcome.answer else None
    return GoldenResultEntry.of(expectation, outcome.result, answer).model_dump(mode="json")


def _line(**fields: Any) -> str:
    return json.dumps(fields) + "\n"
