"""Lets a branch answer for its origin, once golden questions were asked of it."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

from contracts.events import BranchPromoted
from publishing.branches import publish_branch_event
from runtime.branches import Branch
from runtime.bus.port import Log
from runtime.errors import InvalidInput
from runtime.golden import questions as golden
from runtime.golden.comparing import GateResult, WorseAnswers, compare_with_last
from runtime.golden.running import GoldenOutcome

Decide = Callable[[GateResult], Awaitable[bool]]
"""Returns whether to promote although answers become worse."""


def refuse_incomplete(branch: Branch, status_counts: Mapping[str, int]) -> None:
    """Raise InvalidInput for a branch that lacks documents of its origin."""
    if branch.event.sampled_up_to:
        raise InvalidInput(
            f"branch {branch.name} has a sample of {branch.event.sample} documents: create one of "
            "all to promote it"
        )
    unfinished_count = sum(status_counts.get(name, 0) for name in ("pending", "processing"))
    if unfinished_count:
        raise InvalidInput(
            f"{unfinished_count} documents of branch {branch.name} are still being worked on: see "
            f"`lightstream branch status {branch.name}`, and promote it then"
        )


async def refuse_unasked(log: Log, branch: Branch, run_id: str) -> None:
    """Raise InvalidInput unless the golden questions of its origin, as they are now, were asked of
    the branch in this run; empty where there are none. Raises `Unavailable`.
    """
    questions = await golden.read_questions(log, branch.origin)
    if not questions and not run_id:
        return
    run = await _run(log, branch.origin, run_id) if run_id else None
    if run is None or run.event.branch != branch.name or run.event.as_of:
        raise InvalidInput(
            f"ask the golden questions of branch {branch.name} first, and give the id of that run: "
            f'POST /golden-runs with {{"branch": "{branch.name}"}}'
        )
    asked_ids = {result.id for result in run.event.results}
    unasked_ids = sorted(
        question.id
        for question in questions
        if question.id not in asked_ids or question.sequence > run.sequence
    )
    if unasked_ids:
        raise InvalidInput(
            f"run {run_id} did not ask {', '.join(unasked_ids[:20])} as they are now: ask all "
            f"golden questions of branch {branch.name} again"
        )


async def promote(
    log: Log, branch: Branch, run_id: str, reason: str, source: str, decide: Decide
) -> GateResult | None:
    """Let the branch answer for its origin. `run_id`: of the golden questions on the branch, empty
    where there are none.

    Returns how they compare with the last run of what was live. Raises WorseAnswers where they fare
    worse and nobody lets it answer all the same.
    """
    run = await _run(log, branch.origin, run_id) if run_id else None
    gate_result = await _compare(log, branch, run) if run else None
    if gate_result and gate_result.is_worse and not await decide(gate_result):
        raise WorseAnswers(
            f"answers would become worse, and nothing was promoted: {gate_result}. `lightstream "
            f"branch promote {branch.name} --yes`, over HTTP `accept_worse`, does it all the same"
        )
    event = BranchPromoted(name=branch.name, reason=reason)
    await publish_branch_event(log, branch.origin, event, source)
    if run:
        changes = {"branch": "", "reason": f"before branch {branch.name} was promoted"}
        await golden.publish(log, branch.origin, run.event.model_copy(update=changes), source)
    return gate_result


async def _run(log: Log, workspace: str, run_id: str) -> golden.GoldenRun | None:
    async with aclosing(golden.last_runs(log, workspace)) as runs:
        async for run in runs:
            if run.id == run_id:
                return run
    return None


async def _compare(log: Log, branch: Branch, run: golden.GoldenRun) -> GateResult:
    questions = {
        question.id: question for question in await golden.read_questions(log, branch.origin)
    }
    outcomes = [
        GoldenOutcome(questions[result.id], result, None)
        for result in run.event.results
        if result.id in questions
    ]
    last_run = await golden.last_live_run(log, branch.origin)
    return compare_with_last(branch.origin, outcomes, run.event, last_run)
