"""Verifies receipts by the log: the hashes of their texts, and the passages that they name."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from contracts.events import ChunksCreated
from contracts.ids import sha256
from contracts.values import Chunk
from runtime.branches import is_dropped
from runtime.bus.codec import decode
from runtime.bus.port import Log
from runtime.errors import ServiceError
from runtime.receipts.reading import StoredReceipt


@dataclass(frozen=True)
class Verification:
    """What was verified of one receipt. `passages`: those whose text in the log has the hash that
    it names; `erased_passages`: those of erased documents, and of a branch that was dropped;
    `problems`: a sentence for each fault.
    """

    passages: int
    erased_passages: int
    problems: list[str]


@dataclass
class LoggedPassages:
    """The hashes of passages as the log has them; each document is read once."""

    log: Log
    hashes: dict[tuple[str, str], set[tuple[str, str]]] = field(
        default_factory=dict[tuple[str, str], set[tuple[str, str]]]
    )
    dropped: dict[str, bool] = field(default_factory=dict[str, bool])

    async def of(self, workspace: str, document: str) -> set[tuple[str, str]]:
        """Return chunk id and hash of each passage that any version of the document had."""
        key = workspace, document
        if key not in self.hashes:
            chunks = logged_chunks(self.log, workspace, document)
            self.hashes[key] = {(chunk.id, sha256(chunk.content)) async for chunk in chunks}
        return self.hashes[key]

    async def has_gone(self, receipt: StoredReceipt) -> bool:
        """Return whether the branch that answered was dropped, with all of its passages."""
        workspace = receipt.answering_workspace
        if receipt.event.branch and workspace not in self.dropped:
            self.dropped[workspace] = await is_dropped(self.log, workspace)
        return self.dropped.get(workspace, False)


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
    workspace = receipt.answering_workspace
    has_gone = await logged_passages.has_gone(receipt)
    for passage in receipt.event.evidence.passages:
        if has_gone or not passage.sha256:
            erased_count += 1
        elif (passage.chunk_id, passage.sha256) in await logged_passages.of(
            workspace, passage.document_id
        ):
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
