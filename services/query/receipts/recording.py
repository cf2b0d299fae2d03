"""One answer while it is given, and what its receipt is made from afterwards."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from contracts.envelope import Lineage
from contracts.events import AnswerEnd
from contracts.ids import branch_workspace
from runtime.bus.actor import current_actor
from runtime.bus.port import Log
from runtime.errors import ServiceError
from runtime.models.call_scope import PaidCall, current_bill
from runtime.models.port import AnswerPiece
from runtime.receipts.ids import time_ordered_id
from runtime.telemetry import traceparent_for
from services.query.answer import Answer
from services.query.question import Question
from services.query.receipt_forms import RecordedForm


@dataclass(frozen=True)
class AnswerPlace:
    """Where a question is answered from: see `SearchPlace`."""

    workspace: str
    sequence: int | None = None
    complete_to: int = 0
    asked_workspace: str = ""

    @property
    def receipt_workspace(self) -> str:
        """Return the workspace that has the receipt: the one that was asked. So it stays when the
        branch that answered is dropped.
        """
        return self.asked_workspace or self.workspace

    @property
    def branch(self) -> str:
        """Return the name of the branch that answers for it; empty where it does so itself."""
        if not self.asked_workspace:
            return ""
        return self.workspace.removeprefix(branch_workspace(self.asked_workspace, ""))


@dataclass
class Recording:
    """An answer that is being given. `ended` is called once, when the reader has all of it, or has
    left.
    """

    form: RecordedForm
    question: Question
    place: AnswerPlace
    is_streamed: bool
    ended: Callable[["Recording"], None]
    newest_event: asyncio.Task[int]
    """Reads the sequence of the newest event of the workspace."""
    asked_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    lineage: Lineage = field(
        default_factory=lambda: Lineage(actor=current_actor(), traceparent=traceparent_for())
    )
    answer: Answer | None = None
    text: str = ""
    end: AnswerEnd = "whole"
    ended_at: datetime | None = None

    def __post_init__(self) -> None:
        self.id = time_ordered_id(self.asked_at)
        bill = current_bill()
        self._bill: Sequence[PaidCall] = [] if bill is None else bill
        self._paid_before = len(self._bill)

    @property
    def paid_calls(self) -> Sequence[PaidCall]:
        """Return what models were paid for since the question was asked."""
        return self._bill[self._paid_before :]

    def record(self, answer: Answer) -> Answer:
        """Return the answer with the id of its receipt; a streamed one ends with its pieces."""
        self.answer = answer
        if answer.pieces is not None:
            return replace(answer, receipt=self.id, pieces=self._recorded(answer.pieces))
        self.text = answer.text
        self._end("truncated" if answer.truncated else "whole")
        return replace(answer, receipt=self.id)

    async def _recorded(self, pieces: AsyncGenerator[AnswerPiece]) -> AsyncGenerator[AnswerPiece]:
        """Yield the pieces, and note their text. What was read by then counts when the reader
        leaves.
        """
        end: AnswerEnd = "left"
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    self.text = piece.text if piece.resets else self.text + piece.text
                    self.end = "truncated" if piece.cut else self.end
                    yield piece
            end = self.end
        except (GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException:
            end = "failed"
            raise
        finally:
            self._end(end)

    def _end(self, end: AnswerEnd) -> None:
        self.end = end
        self.ended_at = datetime.now(UTC)
        self.ended(self)


async def newest_event(log: Log, workspace: str) -> int:
    """Return the sequence of the newest event of the workspace; 0 while the log does not answer."""
    try:
        return await log.last(workspace)
    except ServiceError:
        return 0
