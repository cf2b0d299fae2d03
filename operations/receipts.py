"""Verifies the receipts of a workspace: their texts, the passages they name, and the chain that has
them.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from contracts.events import ChunksCreated
from contracts.ids import sha256
from contracts.subjects import QUESTIONS
from contracts.topology import CHECKPOINTS_BUCKET
from contracts.values import Chunk
from operations.audit import Audit
from operations.command_bus import connect_bus
from runtime.bus.chain import Link
from runtime.bus.codec import decode
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Log
from runtime.errors import ServiceError
from runtime.receipts.reading import StoredReceipt, receipts_behind
from runtime.settings import Settings
from runtime.stores.open import open_documents

Report = Callable[[dict[str, Any]], None]


@dataclass
class ReceiptFindings:
    """What was verified of a workspace. `passages`: those whose text in the log has the hash that
    the receipt names; `chain`: the hash in which the chain of questions and answers ends.
    """

    receipts: int = 0
    passages: int = 0
    erased: int = 0
    events: int = 0
    chain: str = ""
    problems: list[str] = field(default_factory=list[str])


@dataclass
class LoggedPassages:
    """The hashes of passages as the log has them; each document is read once."""

    log: Log
    workspace: str
    hashes: dict[str, set[tuple[str, str]]] = field(default_factory=dict[str, set[tuple[str, str]]])

    async def of(self, document: str) -> set[tuple[str, str]]:
        """Return chunk id and hash of each passage that any version of the document had."""
        if document not in self.hashes:
            self.hashes[document] = await self._read(document)
        return self.hashes[document]

    async def _read(self, document: str) -> set[tuple[str, str]]:
        chunks = logged_chunks(self.log, self.workspace, document)
        return {(chunk.id, sha256(chunk.content)) async for chunk in chunks}


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


async def verify_receipts(settings: Settings, workspace: str, report: Report) -> ReceiptFindings:
    """Verify all receipts of a workspace, and read the whole log to compare its chains, changing
    nothing. Raises `Unavailable` or ConfigurationError.
    """
    rows = open_documents(settings)
    url = settings.nats_url
    try:
        await rows.prepare()
        # The log is read by a connection of its own, as an audit does.
        async with connect_bus(url) as reader, connect_bus(url) as jetstream:
            values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
            audit = Audit(reader, rows, values, report)
            chains = await audit.run()
            findings = await verified(NatsLog(jetstream), workspace)
    finally:
        await rows.close()
    findings.events = chains.events
    findings.chain = audit.links.get(QUESTIONS, Link()).sha256
    findings.problems += chains.problems
    return findings


async def verified(log: Log, workspace: str) -> ReceiptFindings:
    """Compare every receipt of the workspace with itself and with the passages in the log. Raises
    `Unavailable`.
    """
    findings = ReceiptFindings()
    passages = LoggedPassages(log, workspace)
    async for receipt in receipts_behind(log, workspace, 0, lambda _: True):
        findings.receipts += 1
        findings.erased += receipt.event.form == "erased"
        findings.problems += text_problems(receipt)
        await _verify_passages(receipt, passages, findings)
    return findings


def text_problems(receipt: StoredReceipt) -> list[str]:
    """Return what is wrong with the texts of a receipt, a sentence each."""
    event = receipt.event
    texts = {"question": event.question, "answer": event.answer}
    return [
        f"receipt {event.receipt}: its {name} does not have the hash that it names"
        for name, recorded in texts.items()
        if recorded.text is not None and sha256(recorded.text) != recorded.sha256
    ]


async def _verify_passages(
    receipt: StoredReceipt, passages: LoggedPassages, findings: ReceiptFindings
) -> None:
    for passage in receipt.event.evidence.passages:
        if not passage.sha256:
            continue
        if (passage.chunk_id, passage.sha256) in await passages.of(passage.document_id):
            findings.passages += 1
        else:
            findings.problems.append(
                f"receipt {receipt.event.receipt}: the log has no passage {passage.chunk_id} with "
                "the text that the answer rests on"
            )
