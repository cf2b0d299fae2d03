"""Decides when a second round is given up: when that very round fails again and again while others succeed."""

from collections import OrderedDict

MAX_FAILURES = 5
"""Failures of one round after which it is given up; between two of them the model must have answered something."""

MAX_ROUNDS = 10_000
"""Rounds whose failures are counted; the least recently failed is dropped first."""


class RoundFailures:
    """Counts the failures of each second round. Failures without any answer of the model in between count as one."""

    def __init__(self) -> None:
        self._answers = 0
        self._failures: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def record_answer(self, round: str = "") -> None:
        """Note that the model has answered; if it answered this round, its failures are dropped."""
        self._answers += 1
        self._failures.pop(round, None)

    def record_failure(self, round: str) -> bool:
        """Note that this round failed; return whether it should be given up."""
        count, answers = self._failures.get(round, (0, -1))
        if answers != self._answers:
            count += 1
        self._failures[round] = count, self._answers
        self._failures.move_to_end(round)
        while len(self._failures) > MAX_ROUNDS:
            self._failures.popitem(last=False)
        return count >= MAX_FAILURES
