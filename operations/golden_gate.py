"""Asks golden questions of generations that are about to go live, and asks before answers become
worse.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
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
from runtime.golden.comparing import GateResult, WorseAnswers, compare_with_last
from runtime.golden.judging import GivenAnswer
from runtime.golden.questions import GoldenQuestion, last_live_run, publish, read_questions
from runtime.golden.running import ask_all

AskGenerations = Callable[[GoldenQuestionSet, Generations], Awaitable[GivenAnswer]]
OpenAsking = Callable[[Log, str], AbstractAsyncContextManager[AskGenerations]]
"""Opens what answers the questions of a workspace from generations that are not live."""


Decide = Callable[[Sequence[GateResult]], Awaitable[bool]]
"""Returns whether to go live although answers became worse."""


OF_REBUILD = (
    "The new generations wait: `lightstream rebuild promote --yes` goes live with them, "
    "`lightstream rebuild cleanup` drops them"
)
"""What can be done once a rebuild was kept from going live."""


@dataclass
class GoldenGate:
    """Runs the golden questions of all workspaces before a switch. `tell` says how they fare."""

    open_asking: OpenAsking
    decide: Decide
    tell: Callable[[str], None]
    workspaces: Collection[str] = ()
    """The only workspaces whose questions are asked; none: all."""
    way_out: str = OF_REBUILD
    """What can be done where nothing was switched."""
    results: list[GateResult] = field(default_factory=list[GateResult])
    _runs: dict[str, GoldenRunEnded] = field(default_factory=dict[str, GoldenRunEnded])

    async def check(self, log: Log, generations: Generations) -> None:
        """Ask the golden questions of these generations. Raises WorseAnswers where they fare worse
        and nobody lets them go live.
        """
        for workspace in await workspaces_with_questions(log):
            if self.workspaces and workspace not in self.workspaces:
                continue
            if questions := await read_questions(log, workspace):
                result = await self._ask(log, workspace, questions, generations)
                self.results.append(result)
                self.tell(str(result))
        worse = [result for result in self.results if result.is_worse]
        if worse and not await self.decide(worse):
            await self.record(log, is_live=False)
            raise WorseAnswers(
                f"answers became worse, and nothing was switched: {'; '.join(map(str, worse))}. "
                f"{self.way_out}"
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
        return compare_with_last(workspace, outcomes, run, await last_live_run(log, workspace))


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
