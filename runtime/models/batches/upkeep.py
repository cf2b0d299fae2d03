"""Looks after the open batches of one model: finds them after a crash, sees how far they are, and
has the provider remove what it has of them in the end.
"""

import time
from dataclasses import dataclass, field

import structlog

from runtime.models.batches.open_batches import OpenBatches
from runtime.models.batches.port import Batches, Progress, Undecided
from runtime.models.batches.records import BatchedCall, BatchRecord, StoredRecord
from runtime.models.batches.requests import GONE
from runtime.models.batches.rules import LONGEST_WAIT, BatchRules, WantedCalls
from runtime.models.failures import Failure

logger = structlog.get_logger(__name__)

SKEW = 900.0
"""Seconds by which the provider's clock may differ from ours."""

RETENTION = 24 * 3600.0
"""Seconds after its end for which the answers of a batch are kept for calls that were not made
again.
"""


@dataclass
class Upkeep:
    """What is due for each batch. Of several replicas one does it: it writes the time first."""

    provider: Batches
    open_batches: OpenBatches
    wanted_calls: WantedCalls
    rules: BatchRules
    _wanted_keys: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def unanswered(self, batch: BatchRecord) -> list[BatchedCall]:
        """Return the calls of a batch whose answers are wanted, so far as this process knows; none
        of one that the provider did not take.
        """
        if batch.failure:
            return []
        wanted_keys = self._wanted_keys.get(batch.key)
        return [call for call in batch.calls if wanted_keys is None or call.key in wanted_keys]

    async def look_after(self, record: StoredRecord) -> None:
        """Do what is due for one batch. Raises `Failure` or one of our errors."""
        batch = record.batch
        moment = time.time()
        if batch.ended_at:
            if moment - batch.looked_at >= self.rules.poll:
                await self._close_if_settled(record)
        elif batch.id:
            if moment - batch.looked_at >= self.rules.poll:
                await self._look_at(record)
        elif moment - batch.tried_at >= self.rules.settling:
            await self._recover(record)

    async def _recover(self, record: StoredRecord) -> None:
        """Find out whether a batch was submitted, of which nobody saw the end."""
        claimed_record = await self.open_batches.replace(record, tried_at=time.time())
        if claimed_record is None:
            return
        batch = claimed_record.batch
        known_records = await self.open_batches.records.read()
        other_ids = {record.batch.id for record in known_records if record.batch.id}
        size = len(batch.calls)
        try:
            id = await self.provider.find(batch.key, size, batch.made_at - SKEW, other_ids)
        except Undecided:
            return
        if id:
            await self.open_batches.replace(claimed_record, id=id)
            logger.info("a batch was submitted before a crash", batch=id)
            return
        # Its calls are gathered anew when they are made again.
        await self.open_batches.drop(batch)
        logger.info("a batch was not submitted", passages=size)

    async def _look_at(self, record: StoredRecord) -> None:
        claimed_record = await self.open_batches.replace(record, looked_at=time.time())
        if claimed_record is None:
            return
        batch = claimed_record.batch
        try:
            progress = await self.provider.progress(batch.id)
        except Failure as failure:
            if failure.status != GONE:
                raise
            progress = Progress(True, batch.answer_count, "the provider no longer has it")
        if not progress.has_ended and progress.answer_count == batch.answer_count:
            return
        await self.open_batches.replace(
            claimed_record,
            answer_count=progress.answer_count,
            failure=progress.failure[:300],
            ended_at=time.time() if progress.has_ended else 0.0,
            looked_at=0.0 if progress.has_ended else claimed_record.batch.looked_at,
        )
        if progress.has_ended:
            log = logger.warning if progress.failure else logger.info
            log(
                "a batch has ended",
                batch=batch.id,
                answer_count=progress.answer_count,
                passages=len(batch.calls),
                failure=progress.failure or None,
            )
            await self.provider.remove_requests(batch.id)

    async def _close_if_settled(self, record: StoredRecord) -> None:
        claimed_record = await self.open_batches.replace(record, looked_at=time.time())
        if claimed_record is None:
            return
        batch = claimed_record.batch
        # What is obsolete for one document may be what another one waits for, which asks by then.
        everybody_asked = time.time() - batch.ended_at > (LONGEST_WAIT + 1) * self.rules.poll
        wanted_keys = await self.wanted_calls.keys(
            batch.workspace, batch.calls, also_obsolete=not everybody_asked
        )
        self._wanted_keys[batch.key] = wanted_keys
        if wanted_keys and time.time() - batch.ended_at < RETENTION:
            return
        try:
            await self.provider.remove(batch.id)
        except Failure as failure:
            if failure.status != GONE:
                raise
        await self.open_batches.drop(batch)
        del self._wanted_keys[batch.key]
        logger.info("a batch is done", batch=batch.id, passages=len(batch.calls))
