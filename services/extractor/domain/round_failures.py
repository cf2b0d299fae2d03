"""When a second round that fails is done without: when that very round fails again and again, and no other does."""

from collections import OrderedDict

MAX_FAILURES = 5
"""Failures of one round, each behind an answer to something else, after which it is given up."""

MAX_ROUNDS = 10_000
"""Rounds that are remembered, the longest untouched forgotten first."""


class RoundFailures:
    """Failures of each second round that count against it. While the model answers nobody, they count as one."""

    def __init__(self) -> None:
        self._answers = 0
        self._failures: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def record_answer(self, round: str = "") -> None:
        """The model has answered something: this round, if it is named."""
        self._answers += 1
        self._failures.pop(round, None)

    def record_failure(self, round: str) -> bool:
        """Note that this round failed, and say whether it is to be given up."""
        count, answers = self._failures.get(round, (0, -1))
        if answers != self._answers:
            count += 1
        self._failures[round] = count, self._answers
        self._failures.move_to_end(round)
        while len(self._failures) > MAX_ROUNDS:
            self._failures.popitem(last=False)
        return count >= MAX_FAILURES
