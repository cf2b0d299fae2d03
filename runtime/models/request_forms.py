"""Forms of a request, the best one first: which of them a provider takes is found by asking, and
remembered.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from runtime.models.failures import Failure

T = TypeVar("T")

REFUSALS = (400, 404, 405, 413, 415, 422, 500, 501)
"""Statuses with which servers refuse a field that they do not know, whatever they say."""

BROKEN = 500

BROKEN_TWICE = 2
"""Times that a server must have broken over a form, and answered the next, before it is given
up.
"""


class RequestForms:
    """The optional fields of a request in several forms. One object per endpoint and use."""

    def __init__(self, *forms: Mapping[str, Any]) -> None:
        self._forms = forms
        self._best = 0
        self._broken = 0
        self.is_settled = False
        """Whether the provider has taken the present form."""

    @property
    def best(self) -> Mapping[str, Any]:
        """Return the form to ask in."""
        return self._forms[self._best]

    def may_refuse(self, failure: Failure) -> bool:
        """Return whether a failure can be about the form."""
        return failure.status in REFUSALS and not (self.is_settled and failure.status == BROKEN)

    async def ask(self, send: Callable[[Mapping[str, Any]], Awaitable[T]]) -> T:
        """Return what `send` returns for the first form that is not refused. Raises the `Failure`
        of the last one.

        A server that breaks over a form that it took before is not asked in another one; one that
        refuses it is.
        """
        is_broken = False
        for place in range(self._best, len(self._forms)):
            try:
                answer = await send(self._forms[place])
            except Failure as failure:
                if place == len(self._forms) - 1 or not self.may_refuse(failure):
                    raise
                is_broken = failure.status == BROKEN
                continue
            self._settle(place, is_broken=is_broken)
            return answer
        raise AssertionError("a request has one form at least")

    def _settle(self, place: int, *, is_broken: bool) -> None:
        """Remember a form that was taken, of a server that broke over the one before it only the
        second time.
        """
        self._broken += is_broken
        if not is_broken or self._broken >= BROKEN_TWICE:
            self._best = place
            self.is_settled = True
