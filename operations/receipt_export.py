"""Exports a receipt of the log as a file that verifies without it."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from nats.js import JetStreamContext

from contracts import subjects
from contracts.ids import sha256
from operations.command_bus import connect_bus
from runtime.bus.chain import Link
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Log
from runtime.errors import InvalidInput, LogDamaged
from runtime.projections.log_archive import chained_pages, kept_links
from runtime.receipts.exported import ChainExcerpt, exported
from runtime.receipts.reading import StoredReceipt, find_receipt
from runtime.receipts.verifying import logged_chunks
from runtime.settings import Settings
from runtime.stores.documents.port import Rows
from runtime.stores.open import open_documents

ALL_QUESTIONS = f"{subjects.PREFIX}.{subjects.QUESTIONS}.>"
"""Filter for the events whose chain has the receipts."""


@dataclass(frozen=True)
class ReceiptExport:
    """What is to be exported. `with_texts`: with the texts of the passages that the log has;
    `chain`: a hash of the chain up to which the proof is to reach, else up to the next that is
    kept, or the end.
    """

    workspace: str
    id: str
    with_texts: bool = False
    chain: str = ""

    async def from_stack(self, settings: Settings) -> str:
        """Return the file, as JSON-LD. Raises ConfigurationError, and what `from_log` raises."""
        rows = open_documents(settings)
        try:
            await rows.prepare()
            async with connect_bus(settings.nats_url) as jetstream:
                return await self.from_log(jetstream, rows)
        finally:
            await rows.close()

    async def from_log(self, jetstream: JetStreamContext, rows: Rows) -> str:
        """Return the file, read with open stores.

        Raises InvalidInput for an id or a hash that the log does not have, LogDamaged where the
        chain is broken, and `Unavailable`.
        """
        log = NatsLog(jetstream)
        receipt = await find_receipt(log, self.workspace, self.id)
        if receipt is None:
            raise InvalidInput(f"workspace {self.workspace!r} has no receipt {self.id}")
        links = await kept_links(rows, subjects.QUESTIONS)
        excerpt = await chain_excerpt(jetstream, links, receipt, self.chain)
        texts = await logged_texts(log, receipt) if self.with_texts else {}
        return exported(receipt, excerpt, texts)


async def chain_excerpt(
    jetstream: JetStreamContext, links: Sequence[Link], receipt: StoredReceipt, until: str
) -> ChainExcerpt:
    """Return the part of the chain that has the receipt: from the last of these kept links before
    it up to the one with the hash `until`, else the next one, or the end of the log.

    Raises as `ReceiptExport.from_log` does.
    """
    start = max(
        (link for link in links if link.sequence < receipt.sequence),
        key=lambda link: link.sequence,
        default=Link(),
    )
    kept_hashes = {link.sequence: link.sha256 for link in links}
    link = start
    leaves: list[str] = []
    place: int | None = None
    pages = chained_pages(jetstream, start.sequence, ALL_QUESTIONS)
    async with aclosing(pages):
        async for page in pages:
            for sequence, chain, leaf in page.leaves:
                if chain != subjects.QUESTIONS:
                    continue
                link = link.followed_by(sequence, leaf)
                leaves.append(leaf)
                if kept_hashes.get(sequence, link.sha256) != link.sha256:
                    raise LogDamaged(
                        f"the chain of questions and answers is broken at or before {sequence}: "
                        "`lightstream audit` says more"
                    )
                if sequence == receipt.sequence:
                    place = len(leaves) - 1
                is_last = link.sha256 == until if until else sequence in kept_hashes
                if place is not None and is_last:
                    return _excerpt(start, leaves, place, link)
    if until or place is None:
        raise InvalidInput(
            f"the chain had no hash {until:.80} when the receipt came, or later"
            if place is not None
            else f"the log has no event at {receipt.sequence} any more: it was erased meanwhile"
        )
    return _excerpt(start, leaves, place, link)


def _excerpt(start: Link, leaves: list[str], place: int, end: Link) -> ChainExcerpt:
    return ChainExcerpt(before=start.sha256, leaves=leaves, place=place, after=end.sha256)


async def logged_texts(log: Log, receipt: StoredReceipt) -> dict[str, str]:
    """Return the texts of the receipt's passages that the log has as they were, by the passages'
    ids. Raises `Unavailable`.
    """
    passages = receipt.event.evidence.passages
    hashes = {passage.chunk_id: passage.sha256 for passage in passages}
    texts: dict[str, str] = {}
    for document in dict.fromkeys(passage.document_id for passage in passages):
        async for chunk in logged_chunks(log, receipt.envelope.workspace, document):
            if hashes.get(chunk.id) == sha256(chunk.content):
                texts[chunk.id] = chunk.content
    return texts
