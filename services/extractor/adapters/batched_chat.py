"""Has calls of a language model answered in batches, within a day and at half the price."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from runtime.costs.budgeted_chat import BudgetGuard
from runtime.models.batches.gathering import BatchCall
from runtime.models.call_scope import call_result, call_scope
from runtime.models.chat_proxy import ChatProxy
from runtime.models.port import Chat, Completion, Message

if TYPE_CHECKING:  # it loads aiohttp, which extraction without a model needs not
    from runtime.models.batches.queue import BatchQueue


class BatchedChat(ChatProxy):
    """`Chat` that raises `AwaitingBatch` until the batch of a call has ended.

    `chat` is asked directly for what batches do not answer. What is in a batch is reserved in the
    budget, and counts as spent from its answer on.
    """

    def __init__(self, chat: Chat, queue: "BatchQueue", guard: BudgetGuard) -> None:
        super().__init__(chat)
        self._queue = queue
        self._guard = guard

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """See `Chat.complete`."""
        result = call_result()
        if result is None:
            return await self._chat.complete(messages, json=json)
        workspace = call_scope().workspace
        call = BatchCall(workspace, result.key, result.document, messages, json)
        if not await self._queue.holds(call):
            await self._guard.check(workspace)
        completion = await self._queue.answer(call)
        if completion is None:
            return await self._chat.complete(messages, json=json)
        self._guard.note(workspace, self.model, completion)
        return completion
