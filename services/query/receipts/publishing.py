"""Publishes the receipts of answers in the background: no answer waits for its receipt."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from contracts.envelope import Envelope, wrap
from contracts.events import AnswerGiven, Event
from runtime.bus.codec import encode
from runtime.bus.port import Log
from runtime.concurrency.background import in_background
from runtime.errors import ServiceError
from runtime.metrics.instruments import receipts as receipt_count
from runtime.semantic_conventions import OUTCOME
from services.query.event_source import SOURCE
from services.query.question import Question
from services.query.receipt_forms import ReceiptForms
from services.query.receipts.event import answer_given
from services.query.receipts.recording import AnswerPlace, Recording, newest_event

logger = structlog.get_logger(__name__)

MAX_UNSENT = 1000
"""Receipts that wait for the log at most. One more is lost, logged and counted."""

MAX_BYTES = 240 * 1024
"""Bytes of a receipt at most: a longer one is recorded as hashes."""

RETRY_SECONDS = 1.0
"""Seconds after which a receipt that the log did not take is tried again."""


@dataclass
class AnswerReceipts:
    """Records answers, and publishes their receipts in the order in which they ended.

    `model`: the answering model of the settings, empty for none.
    """

    log: Log
    forms: ReceiptForms
    model: str = ""
    _unsent: deque[Recording | Envelope[Event]] = field(
        default_factory=deque[Recording | Envelope[Event]]
    )
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    def recording(
        self, question: Question, place: AnswerPlace, *, is_streamed: bool
    ) -> Recording | None:
        """Return what records the answer to a question; None where the workspace has no
        receipts.
        """
        form = self.forms.of(place.workspace)
        if form is None:
            return None
        reading = asyncio.ensure_future(newest_event(self.log, place.workspace))
        return Recording(form, question, place, is_streamed, self._put, reading)

    def _put(self, recording: Recording) -> None:
        if len(self._unsent) >= MAX_UNSENT:
            self._lost(recording.id, "too many wait for the log")
            return
        self._unsent.append(recording)
        self._came.set()

    async def publish(self) -> None:
        """Publish what waits. Raises `Unavailable` where the log takes nothing: all of it stays."""
        while self._unsent:
            first = self._unsent[0]
            envelope = await self._envelope(first) if isinstance(first, Recording) else first
            if envelope is not None:
                self._unsent[0] = envelope
                await self.log.publish(envelope)
                receipt_count.add(1, {OUTCOME: "published"})
            self._unsent.popleft()

    @asynccontextmanager
    async def published_in_background(self) -> AsyncGenerator[None]:
        """Publish inside of the block, and what is left in the end."""
        try:
            async with in_background(self._publish_forever()):
                yield
        finally:
            try:
                await self.publish()
            except ServiceError as error:
                for _ in self._unsent:
                    self._lost("", str(error))

    async def _publish_forever(self) -> None:
        while True:
            await self._came.wait()
            self._came.clear()
            try:
                await self.publish()
            except ServiceError as error:
                logger.warning(
                    "receipts are not in the log yet", receipts=len(self._unsent), error=str(error)
                )
                await asyncio.sleep(RETRY_SECONDS)
                self._came.set()

    async def _envelope(self, recording: Recording) -> Envelope[Event] | None:
        """Return the event of an answer; None where it cannot be made, which is logged and
        counted.
        """
        try:
            position = await recording.newest_event
            event = answer_given(recording, position, self.model)
            envelope = self._wrapped(recording, event)
            if len(encode(envelope)) > MAX_BYTES:
                recording.form = "hashes"
                event = answer_given(recording, position, self.model)
                envelope = self._wrapped(recording, event)
        except Exception as error:  # a fault of ours must not end the receipts of all others
            logger.exception("a receipt could not be made")
            self._lost(recording.id, type(error).__name__)
            return None
        return envelope

    def _wrapped(self, recording: Recording, event: AnswerGiven) -> Envelope[Event]:
        return wrap(
            event,
            id=recording.id,
            source=SOURCE,
            workspace=recording.place.receipt_workspace,
            time=recording.ended_at or datetime.now(UTC),
            lineage=recording.lineage,
        )

    def _lost(self, id: str, reason: str) -> None:
        receipt_count.add(1, {OUTCOME: "lost"})
        logger.error("a receipt of an answer is lost", receipt=id, reason=reason)
