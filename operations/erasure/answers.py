"""Receipts of answers that may hold words of an erased document: each is written anew without them,
and its event removed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import AnswerGiven, Event
from contracts.ids import event_id
from runtime.bus.port import Log
from runtime.receipts.erased import graph_ids, may_have_words_of, without_words_of
from runtime.receipts.reading import StoredReceipt, stored_receipt


@dataclass(frozen=True)
class AnsweredWords:
    """The receipts of a workspace that may hold words of a document, and what stays of them."""

    document: str
    keys: frozenset[tuple[str, ...]]
    receipts: tuple[StoredReceipt, ...] = ()

    @property
    def leaves(self) -> dict[int, str]:
        """Return the leaf of each event to be removed, by sequence."""
        return {receipt.sequence: receipt.leaf for receipt in self.receipts}

    def rewritten(self) -> Iterable[Envelope[Event]]:
        """Yield the events that take the place of those that are removed, with derived ids."""
        ids = graph_ids(self.keys)
        for receipt in self.receipts:
            event = without_words_of(receipt.event, self.document, ids)
            cause = f"{receipt.envelope.id}/{self.document}"
            yield receipt.envelope.model_copy(
                update={
                    "id": event_id(cause, event.type_name()),
                    "causationid": receipt.envelope.id,
                    "data": event,
                }
            )


async def answered_words(
    log: Log, workspace: str, document: str, keys: frozenset[tuple[str, ...]], after: int
) -> AnsweredWords:
    """Return the receipts behind a sequence that may hold words of the document, which says
    something of the entities and relations `keys`. Raises `Unavailable`.
    """
    ids = graph_ids(keys)
    found_receipts: list[StoredReceipt] = []
    subject = subjects.of_type_in(workspace, AnswerGiven.type_name())
    async for page in log.read(after, [subject]):
        for message in page:
            receipt = stored_receipt(message)
            if receipt and may_have_words_of(receipt.event, document, ids):
                found_receipts.append(receipt)
    return AnsweredWords(document, keys, tuple(found_receipts))
