"""Verifies receipts by the log: the hashes of their texts, and the passages that they name."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from contracts.events import ChunksCreated
from contracts.ids import sha256
from contracts.values import Chunk
from runtime.bus.codec import decode
from runtime.bus.port import Log
from runtime.errors import ServiceError
from runtime.receipts.reading import StoredReceipt


@dataclass(frozen=True)
class Verification:
    """What was verified of one receipt. `passages`: those whose text in the log has the hash that
    it names; `erased_passages`: those of erased documents; `problems`: a sentence for each fault.
    """

    passages: int
    erased_passages: int
    problems: list[str]


@dataclass
class LoggedPassages:
    """The hashes of passages as the log has them; each document is read once."""

    log: Log
    workspace: str
    hashes: dict[str, set[tuple[str, str]]] = field(default_factory=dict[str, set[tuple[str, str]]])

    async def of(self, document: str) -> set[tuple[str, str]]:
        """Return chunk id and hash of each passage that any version of the document had."""
        if document not in self.hashes:
            chunks = logged_chunks(self.log, self.workspace, document)
            self.hashes[document] = {(chunk.id, sha256(chunk.content)) async for chunk in chunks}
        return self.hashes[document]


async def logged_chunks(log: Log, workspace: str, document: str) -> AsyncGenerator[Chunk]:
    """Yield the passages of every version of a document, as the log has them. Raises
    `Unavailable`.
    """
    messages = log.history(workspace, document, ChunksCreated.type_name())
    async with aclosing(messages):
        async for message in messages:
            try:
                event = decode(message.data, message.subject, message.headers).data
            except ServiceError:
                continue
            if isinstance(event, ChunksCreated):
                for chunk in event.chunks:
                    yield chunk


async def verified_by_log(receipt: StoredReceipt, logged_passages: LoggedPassages) -> Verification:
    """Compare a receipt with itself and with the passages in the log. Raises `Unavailable`."""
    problems = text_problems(receipt)
    count = erased_count = 0
    for passage in receipt.event.evidence.passages:
        if not passage.sha256:
            erased_count += 1
        elif (passage.chunk_id, passage.sha256) in await logged_passages.of(passage.document_id):
            count += 1
        else:
            problems.append(
                f"receipt {receipt.event.receipt}: the log has no passage {passage.chunk_id} with "
                "the text that the answer rests on"
            )
    return Verification(count, erased_count, problems)


def text_problems(receipt: StoredReceipt) -> list[str]:
    """Return what is wrong with the texts of a receipt, a sentence each."""
    event = receipt.event
    texts = {"question": event.question, "answer": event.answer}
    return [
        f"receipt {event.receipt}: its {name} does not have the hash that it names"
        for name, recorded in texts.items()
        if recorded.text is not None and sha256(recorded.text) != recorded.sha256
    ]
