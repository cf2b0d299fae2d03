"""Compares how golden questions fare with the last run of what is live."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.events import GoldenRunEnded
from runtime.errors import ServiceError
from runtime.golden.judging import reasons
from runtime.golden.questions import GoldenRun
from runtime.golden.running import GoldenOutcome

MAX_LISTED = 5
"""Questions that a refusal names for each workspace."""


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


def compare_with_last(
    workspace: str,
    outcomes: Sequence[GoldenOutcome],
    run: GoldenRunEnded,
    last_run: GoldenRun | None,
) -> GateResult:
    """Return how the outcomes compare with the newest run of what was live, None without any."""
    if last_run is None:
        return GateResult(workspace, len(outcomes), run.passed_count)
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
