"""Asks golden questions of generations that are about to go live, and asks before answers become
worse.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from contracts import subjects
from contracts.events import GoldenQuestionSet, GoldenRunEnded
from contracts.graph import Generations
from contracts.moments import microseconds
from operations.command_bus import SOURCE
from runtime.bus.codec import decode
from runtime.bus.port import Log
from runtime.errors import ServiceError
from runtime.golden.judging import GivenAnswer, reasons
from runtime.golden.questions import (
    GoldenQuestion,
    GoldenRun,
    publish,
    read_questions,
    read_runs,
)
from runtime.golden.running import GoldenOutcome, ask_all

MAX_LISTED = 5
"""Questions that a refusal names for each workspace."""

AskGenerations = Callable[[GoldenQuestionSet, Generations], Awaitable[GivenAnswer]]
OpenAsking = Callable[[Log, str], AbstractAsyncContextManager[AskGenerations]]
"""Opens what answers the questions of a workspace from generations that are not live."""


class WorseAnswers(ServiceError):
    """Golden questions fare worse than before, and nobody said to go on all the same."""


@dataclass(frozen=True)
class WorsenedQuestion:
    """A question that passed before and does not now, and why."""

    id: str
    question: str
    why: Sequence[str]


@dataclass(frozen=True)
class GateResult:
    """How the golden questions of a workspace fare on the new generations.

    `passed_before`: how many of those passed that were asked in the last run and are unchanged,
    `passed_again`: how many of the same pass now; None where there was no run. `same_kind`: both
    were answered with a language model, or both without.
    """

    workspace: str
    total: int
    passed_count: int
    passed_before: int | None = None
    passed_again: int | None = None
    same_kind: bool = True
    worsened_questions: Sequence[WorsenedQuestion] = ()

    @property
    def is_worse(self) -> bool:
        """Return whether fewer pass than before, or it cannot be told."""
        if self.passed_before is None or self.passed_again is None:
            return False
        return not self.same_kind or self.passed_again < self.passed_before

    def __str__(self) -> str:
        sentence = (
            f"workspace {self.workspace}: {self.passed_count} of {self.total} golden questions pass"
        )
        if self.passed_before is None:
            return sentence
        if not self.same_kind:
            return f"{sentence}, answered with another kind of model than in the last run"
        names = "; ".join(
            f"{question.id}: {', '.join(question.why)}"
            for question in self.worsened_questions[:MAX_LISTED]
        )
        worsened_text = f" (no longer {names})" if names else ""
        former_counts = f"{self.passed_again} of those asked before, where {self.passed_before} did"
        return f"{sentence}; {former_counts}{worsened_text}"


Decide = Callable[[Sequence[GateResult]], Awaitable[bool]]
"""Returns whether to go live although answers became worse."""


@dataclass
class GoldenGate:
    """Runs the golden questions of all workspaces before a switch. `tell` says how they fare."""

    open_asking: OpenAsking
    decide: Decide
    tell: Callable[[str], None]
    results: list[GateResult] = field(default_factory=list[GateResult])
    _runs: dict[str, GoldenRunEnded] = field(default_factory=dict[str, GoldenRunEnded])

    async def check(self, log: Log, generations: Generations) -> None:
        """Ask the golden questions of these generations. Raises WorseAnswers where they fare worse
        and nobody lets them go live.
        """
        for workspace in await workspaces_with_questions(log):
            if questions := await read_questions(log, workspace):
                result = await self._ask(log, workspace, questions, generations)
                self.results.append(result)
                self.tell(str(result))
        worse = [result for result in self.results if result.is_worse]
        if worse and not await self.decide(worse):
            await self.record(log, is_live=False)
            raise WorseAnswers(
                f"answers became worse, and nothing was switched: {'; '.join(map(str, worse))}. "
                "The new generations wait: `lightstream rebuild promote --yes` goes live with "
                "them, `lightstream rebuild cleanup` drops them"
            )

    async def record(self, log: Log, *, is_live: bool) -> None:
        """Publish the runs. Those of generations that did not go live are no measure for others."""
        for workspace, run in self._runs.items():
            await publish(
                log, workspace, run.model_copy(update={"before_promotion": not is_live}), SOURCE
            )
        self._runs.clear()

    def as_json(self) -> dict[str, Any]:
        """Return the results under the name `golden`; nothing where there were no questions."""
        return {"golden": [asdict(result) for result in self.results]} if self.results else {}

    async def _ask(
        self,
        log: Log,
        workspace: str,
        questions: Sequence[GoldenQuestion],
        generations: Generations,
    ) -> GateResult:
        position = microseconds(datetime.now(UTC))
        async with self.open_asking(log, workspace) as ask:
            asking = ask_all(questions, partial(_ask_of, ask, generations), str)
            async with aclosing(asking) as outcome_stream:
                outcomes = [outcome async for outcome in outcome_stream]
        run = GoldenRunEnded(
            results=tuple(outcome.result for outcome in outcomes),
            position=position,
            by_model=any(outcome.answer and outcome.answer.by_model for outcome in outcomes),
            reason="before a promotion",
        )
        self._runs[workspace] = run
        return compare_with_last(workspace, outcomes, run, await read_runs(log, workspace))


async def _ask_of(
    ask: AskGenerations, generations: Generations, question: GoldenQuestionSet
) -> GivenAnswer:
    return await ask(question, generations)


async def workspaces_with_questions(log: Log) -> list[str]:
    """Return the workspaces in which golden questions were ever set. Raises `Unavailable`."""
    workspaces: set[str] = set()
    async for page in log.read(0, [subjects.of_type(GoldenQuestionSet.type_name())]):
        for message in page:
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except ServiceError:
                continue
            workspaces.add(envelope.workspace)
    return sorted(workspaces)


def compare_with_last(
    workspace: str,
    outcomes: Sequence[GoldenOutcome],
    run: GoldenRunEnded,
    runs: Sequence[GoldenRun],
) -> GateResult:
    """Return how the outcomes compare with the newest run of what was live."""
    live_runs = [former_run for former_run in runs if former_run.event.is_of_live]
    if not live_runs:
        return GateResult(workspace, len(outcomes), run.passed_count)
    last_run = live_runs[-1]
    results_before = {result.id: result.passed for result in last_run.event.results}
    comparable = [
        outcome
        for outcome in outcomes
        if outcome.question.id in results_before and outcome.question.sequence < last_run.sequence
    ]
    worsened_questions = [
        WorsenedQuestion(
            outcome.question.id,
            outcome.question.event.question,
            reasons(outcome.question.event.expected, outcome.result),
        )
        for outcome in comparable
        if results_before[outcome.question.id] and not outcome.result.passed
    ]
    return GateResult(
        workspace,
        len(outcomes),
        run.passed_count,
        passed_before=sum(results_before[outcome.question.id] for outcome in comparable),
        passed_again=sum(outcome.result.passed for outcome in comparable),
        same_kind=not comparable or run.by_model == last_run.event.by_model,
        worsened_questions=worsened_questions,
    )
