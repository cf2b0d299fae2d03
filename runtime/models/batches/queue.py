"""Calls of one model that wait for batches: gathered, submitted once, looked after, answered.

Every replica runs one of these over the same records. What a call costs is paid once: its batch is
recorded before it is submitted, and after a crash the provider is asked whether it has it.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import structlog

from contracts.values import TokenUsage
from runtime.concurrency.key_locks import KeyLocks
from runtime.errors import AwaitingBatch, Retryable, ServiceError, Unavailable
from runtime.models.batches.gathering import MOST_CALLS, BatchCall, Gathering
from runtime.models.batches.open_batches import OpenBatches
from runtime.models.batches.port import Batches, Line
from runtime.models.batches.records import BatchRecord, BatchRecords, Listing
from runtime.models.batches.requests import GONE
from runtime.models.batches.rules import LONGEST_WAIT, BatchRules, WantedCalls
from runtime.models.batches.upkeep import Upkeep
from runtime.models.chat import EndpointChat
from runtime.models.failures import TRANSIENT, Failure
from runtime.models.port import Completion

logger = structlog.get_logger(__name__)

SUBMISSION = 240.0
"""Seconds that submitting a batch may take: less than `SETTLING`, so no other replica looks for it
meanwhile.
"""

MOST_GATHERED = 4 * MOST_CALLS
"""Calls of a workspace that are in memory at once; others come again."""

KEPT_ANSWERS = 4
"""Batches whose answers are in memory at once."""

IDLE = 60.0
"""Seconds between two looks while no batch is open and nothing is gathered here."""

UNCOUNTED = (0, 0)
"""Tokens of a call of which only the document counts."""


class BatchQueue:
    """The batches of one model: `chat` is the model, `provider` has its batches."""

    def __init__(
        self,
        chat: EndpointChat,
        provider: Batches,
        records: BatchRecords,
        wanted_calls: WantedCalls,
        rules: BatchRules,
    ) -> None:
        self.address = urlsplit(chat.endpoint.wire.address).hostname or ""
        self.chat = chat
        self._provider = provider
        self._rules = rules
        self._wanted_calls = wanted_calls
        self._open = OpenBatches(records, chat.model, self.address)
        self._upkeep = Upkeep(provider, self._open, wanted_calls, rules)
        self._gathered: dict[str, Gathering] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        self._served = set[tuple[str, str]]()
        self._locks = KeyLocks()
        self._has_work = asyncio.Event()

    async def answer(self, call: BatchCall) -> Completion | None:
        """Return the answer to a call from its batch; None where it is to be asked directly.

        Raises `AwaitingBatch`, `ModelRefused` where the answer is a refusal, and `Unavailable`.
        """
        await self._open.refresh(again=False)
        if (batch := self._open.batch_with(call.workspace, call.key)) is None:
            if self._rules.submits(call.workspace):
                raise self._gather(call)
            return None
        if not batch.ended_at:
            raise self._awaiting(batch)
        # What was of no use once is asked of the model itself.
        if batch.failure or (batch.key, call.key) in self._served:
            return None
        answers = await self._answers_of(batch)
        answer = answers.get(self._open.line_of(batch, call.key))
        self._served.add((batch.key, call.key))
        if answer is None:
            logger.info("a line of a batch failed; it is asked by itself", batch=batch.id)
            return None
        try:
            completion = self.chat.read(answer, call.messages)
        except Unavailable as error:
            logger.info("an answer of a batch is of no use", batch=batch.id, error=str(error))
            return None
        return replace(completion, usage=completion.usage.as_batch())

    async def holds(self, call: BatchCall) -> bool:
        """Return whether a call stands in a batch, or is gathered for one: it is reserved then."""
        await self._open.refresh(again=False)
        gathering = self._gathered.get(call.workspace)
        is_gathered = gathering is not None and call.key in gathering.calls
        return is_gathered or self._open.batch_with(call.workspace, call.key) is not None

    def reserved(self, workspace: str) -> TokenUsage:
        """Return what the open calls of a workspace are expected to take."""
        tokens = list(self._gathered.get(workspace, Gathering()).tokens.values())
        for batch in self._open.of(workspace):
            tokens += [
                (call.prompt, call.completion)
                for call in self._upkeep.unanswered(batch)
                if (batch.key, call.key) not in self._served
            ]
        prompt = sum(prompt for prompt, _ in tokens)
        completion = sum(completion for _, completion in tokens)
        return TokenUsage(prompt=prompt, completion=completion).as_batch()

    async def run(self) -> None:
        """Look after the batches for ever."""
        pause = max(0.1, min(self._rules.gather, self._rules.poll, 20.0) / 4)
        while True:
            self._has_work.clear()
            try:
                await self.look()
            except Exception as error:
                # Whatever happens here: what is in a batch is answered when this goes on.
                logger.warning("batches wait", error=repr(error))
            is_idle = not self._open.all() and not any(
                gathering.calls for gathering in self._gathered.values()
            )
            if is_idle:
                with suppress(TimeoutError):
                    async with asyncio.timeout(IDLE):
                        await self._has_work.wait()
            await asyncio.sleep(pause)

    async def look(self) -> None:
        """Do what is due: see how far batches are, and submit what was gathered."""
        await self._open.refresh()
        for record in self._open.all():
            try:
                await self._upkeep.look_after(record)
            except (Failure, ServiceError) as error:
                logger.warning("a batch waits", batch=record.batch.id, error=str(error))
        self._forget_closed()
        for workspace, gathering in list(self._gathered.items()):
            is_taken = True
            while is_taken and gathering.calls and not gathering.wait(self._rules.gather):
                is_taken = await self._submit(workspace, gathering)

    def _forget_closed(self) -> None:
        open_keys = {record.batch.key for record in self._open.all()}
        self._answers = {key: self._answers[key] for key in self._answers.keys() & open_keys}
        self._served = {line for line in self._served if line[0] in open_keys}

    def _gather(self, call: BatchCall) -> AwaitingBatch:
        gathering = self._gathered.setdefault(call.workspace, Gathering())
        if call.key not in gathering.calls and len(gathering.calls) < MOST_GATHERED:
            gathering.add(call, self.chat.tokens(call.messages))
            self._has_work.set()
        wait = max(gathering.wait(self._rules.gather), self._rules.poll / 10) + 1.0
        if gathering.trouble:
            return AwaitingBatch(
                f"waits for a batch that was refused: {gathering.trouble}", retry_after=wait
            )
        return AwaitingBatch(
            f"waits for a batch of {self.address}, gathered since {_clock(gathering.since)} "
            f"({len(gathering.calls)} so far)",
            retry_after=wait,
        )

    def _awaiting(self, batch: BatchRecord) -> AwaitingBatch:
        poll = self._rules.poll
        wait = min(max(poll, (time.time() - batch.made_at) / 4), poll * LONGEST_WAIT)
        return AwaitingBatch(
            f"waits for a batch of {self.address} since {_clock(batch.made_at)} "
            f"({batch.answer_count} of {len(batch.calls)} answered)",
            retry_after=wait,
        )

    async def _submit(self, workspace: str, gathering: Gathering) -> bool:
        """Submit a batch of what was gathered; False where the provider did not take it."""
        chosen_calls = gathering.next_batch()
        calls, batch = await self._claimed(workspace, chosen_calls, gathering.tokens)
        gathering.forget(call for call in chosen_calls if call not in calls)
        if batch is None:
            return True
        lines = [
            Line(batch.line_id(place), self.chat.body(call.messages, json=call.json))
            for place, call in enumerate(calls)
        ]
        try:
            async with asyncio.timeout(SUBMISSION):
                id = await self._provider.submit(batch.key, lines)
        except (Failure, ServiceError, TimeoutError) as error:
            await self._not_submitted(batch, gathering, error)
            return False
        gathering.forget(calls)
        gathering.trouble = ""
        await self._open.refresh()
        if record := self._open.record_of(batch):
            await self._open.replace(record, id=id)
        logger.info("a batch is submitted", batch=id, workspace=workspace, passages=len(calls))
        return True

    async def _not_submitted(
        self, batch: BatchRecord, gathering: Gathering, error: Exception
    ) -> None:
        """Have a batch that was refused made again later; of one whose end nobody saw it is found
        out later whether it was submitted.
        """
        logger.warning("a batch was not taken", error=str(error) or "it took too long")
        gathering.trouble = str(error)[:300]
        status = error.status if isinstance(error, Failure) else 0
        if not 400 <= status < 500 or status in TRANSIENT:
            claimed_keys = {call.key for call in batch.calls}
            known_keys = claimed_keys & gathering.calls.keys()
            gathering.forget([gathering.calls[key] for key in known_keys])
            return
        provider = error.provider if isinstance(error, Failure) else error
        wait = provider.retry_after if isinstance(provider, Retryable) else None
        gathering.held_until = time.monotonic() + max(self._rules.poll, wait or 0.0)
        await self._open.drop(batch)

    async def _claimed(
        self, workspace: str, calls: list[BatchCall], tokens: Mapping[str, tuple[int, int]]
    ) -> tuple[list[BatchCall], BatchRecord | None]:
        """Record a batch of those calls that are wanted and stand in no other one."""
        key = uuid4().hex[:16]
        while True:
            listing = await self._open.records.read_workspace(workspace)
            calls = await self._unclaimed(workspace, calls, listing)
            if not calls:
                return [], None
            moment = time.time()
            batch = BatchRecord(
                key=key,
                workspace=workspace,
                model=self.chat.model,
                address=self.address,
                calls=tuple(call.recorded(tokens[call.key]) for call in calls),
                made_at=moment,
                tried_at=moment,
            )
            if await self._open.records.claim(batch, listing):
                return calls, batch

    async def _unclaimed(
        self, workspace: str, calls: list[BatchCall], listing: Listing
    ) -> list[BatchCall]:
        claimed_keys = {call.key for record in listing.records for call in record.batch.calls}
        free_calls = [call for call in calls if call.key not in claimed_keys]
        wanted_keys = await self._wanted_calls.keys(
            workspace, [call.recorded(UNCOUNTED) for call in free_calls]
        )
        return [call for call in free_calls if call.key in wanted_keys]

    async def _answers_of(self, batch: BatchRecord) -> dict[str, Any]:
        """Return the answers of a batch by the ids of its lines. Raises `Unavailable`."""
        async with self._locks.hold([batch.key]):
            if batch.key not in self._answers:
                answers: dict[str, Any] = {}
                try:
                    async with aclosing(self._provider.answers(batch.id)) as lines:
                        async for line, answer in lines:
                            answers[line] = answer
                except Failure as failure:
                    if failure.status != GONE:
                        raise failure.provider from None
                while len(self._answers) >= KEPT_ANSWERS:
                    del self._answers[next(iter(self._answers))]
                self._answers[batch.key] = answers
            return self._answers[batch.key]


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
