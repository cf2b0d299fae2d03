"""Lets a branch answer for its origin, once golden questions were asked of it."""

from collections.abc import Awaitable, Callable

from contracts.events import BranchPromoted
from operations.command_bus import SOURCE
from operations.golden_gate import GateResult, WorseAnswers, compare_with_last
from publishing.branches import publish_branch_event
from runtime.branches import Branch
from runtime.bus.port import Log
from runtime.errors import InvalidInput
from runtime.golden import questions as golden
from runtime.golden.running import GoldenOutcome

Decide = Callable[[GateResult], Awaitable[bool]]
"""Returns whether to promote although answers become worse."""


def refuse_incomplete(branch: Branch, status_counts: dict[str, int]) -> None:
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


async def promote(
    log: Log, branch: Branch, run_id: str, reason: str, decide: Decide
) -> GateResult | None:
    """Let the branch answer for its origin. `run_id`: of the golden questions on the branch, empty
    where there are none.

    Returns how they compare with the last run of what was live. Raises WorseAnswers where they fare
    worse and nobody lets it answer all the same.
    """
    gate_result = await _compare(log, branch, run_id) if run_id else None
    if gate_result and gate_result.is_worse and not await decide(gate_result):
        raise WorseAnswers(
            f"answers would become worse, and nothing was promoted: {gate_result}. `lightstream "
            f"branch promote {branch.name} --yes` does it all the same"
        )
    event = BranchPromoted(name=branch.name, reason=reason)
    await publish_branch_event(log, branch.origin, event, SOURCE)
    if run_id:
        run = await _run(log, branch.origin, run_id)
        changes = {"branch": "", "reason": f"before branch {branch.name} was promoted"}
        await golden.publish(log, branch.origin, run.event.model_copy(update=changes), SOURCE)
    return gate_result


async def _run(log: Log, workspace: str, run_id: str) -> golden.GoldenRun:
    return next(run for run in await golden.read_runs(log, workspace) if run.id == run_id)


async def _compare(log: Log, branch: Branch, run_id: str) -> GateResult:
    runs = await golden.read_runs(log, branch.origin)
    run = next(run for run in runs if run.id == run_id)
    questions = {
        question.id: question for question in await golden.read_questions(log, branch.origin)
    }
    outcomes = [
        GoldenOutcome(questions[result.id], result, None)
        for result in run.event.results
        if result.id in questions
    ]
    return compare_with_last(branch.origin, outcomes, run.event, runs)
