"""Opens the batches of each model that the extractor asks, and looks after them."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runtime.costs.budgeted_chat import BudgetedChat, BudgetGuard, entries_of
from runtime.costs.port import CostEntry
from runtime.errors import ConfigurationError
from runtime.models.batches.records import BatchRecords
from runtime.models.batches.rules import BatchRules, WantedCalls
from runtime.models.port import Chat
from services.extractor.adapters.batched_chat import BatchedChat

if TYPE_CHECKING:  # it loads aiohttp, which extraction without a model needs not
    from runtime.models.batches.queue import BatchQueue


@dataclass
class BatchQueues:
    """The batches of all models of this process."""

    rules: BatchRules
    wanted_calls: WantedCalls
    records: BatchRecords
    guard: BudgetGuard
    _queues: list["BatchQueue"] = field(default_factory=list["BatchQueue"])
    _new_queue: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.guard.reservations = self.reserved

    def chat_over(self, chat: Chat) -> Chat:
        """Return the model behind the budget and, where its provider has any, behind batches.

        Raises `ConfigurationError` where batches are asked for and there are none.
        """
        budgeted_chat = BudgetedChat(chat, self.guard)
        queue = self._open(chat)
        if queue is None:
            if self.rules.are_required:
                raise ConfigurationError(
                    "EXTRACT_LLM_BATCH: the provider of the model that extracts has no batches "
                    "here; set it to false, or choose EXTRACT_LLM_BINDING=openai or anthropic"
                )
            return budgeted_chat
        self._queues.append(queue)
        self._new_queue.set()
        return BatchedChat(budgeted_chat, queue, self.guard)

    def reserved(self, workspace: str) -> Iterator[CostEntry]:
        """Yield what the open calls of a workspace are expected to cost."""
        for queue in self._queues:
            yield from entries_of(queue.chat.model, queue.reserved(workspace))

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Look after the batches of every model while the block lasts, also of later ones."""
        supervisor = asyncio.create_task(self._run(), name="batches")
        try:
            yield
        finally:
            supervisor.cancel()
            await asyncio.gather(supervisor, return_exceptions=True)

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            running_count = 0
            while True:
                self._new_queue.clear()
                for queue in self._queues[running_count:]:
                    tasks.create_task(queue.run())
                running_count = len(self._queues)
                await self._new_queue.wait()

    def _open(self, chat: Chat) -> "BatchQueue | None":
        from runtime.models.batches.providers import open_batches  # noqa: PLC0415
        from runtime.models.batches.queue import BatchQueue  # noqa: PLC0415
        from runtime.models.chat import EndpointChat  # noqa: PLC0415

        if not isinstance(chat, EndpointChat) or not (batches := open_batches(chat.endpoint)):
            return None
        return BatchQueue(chat, batches, self.records, self.wanted_calls, self.rules)
