"""Exports receipts of the log as a file that verifies without it."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nats.js import JetStreamContext

from contracts import subjects
from contracts.ids import sha256
from contracts.partitions import partition_at, stream_name
from operations.command_bus import connect_bus
from runtime.bus.chain import Link, chain_of, is_of_questions
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Log
from runtime.errors import InvalidInput, LogDamaged
from runtime.projections.log_archive import chained_pages, kept_links
from runtime.receipts.exported import ChainExcerpt, ChainPart, exported
from runtime.receipts.period import exported_period
from runtime.receipts.reading import StoredReceipt, find_receipt, receipts_between
from runtime.receipts.verifying import logged_chunks
from runtime.settings import Settings
from runtime.stores.documents.port import Rows
from runtime.stores.open import open_documents


class Export(Protocol):
    """What is to be exported."""

    async def from_log(self, jetstream: JetStreamContext, rows: Rows) -> str:
        """Return the file, as JSON-LD, read with open stores."""
        ...


@dataclass(frozen=True)
class ReceiptExport:
    """One receipt. `with_texts`: with the texts of the passages that the log has; `chain`: a hash
    of the chain up to which the proof is to reach, else up to the next that is kept, or the end.
    """

    workspace: str
    id: str
    with_texts: bool = False
    chain: str = ""

    async def from_log(self, jetstream: JetStreamContext, rows: Rows) -> str:
        """Return the file, read with open stores.

        Raises InvalidInput for an id or a hash that the log does not have, LogDamaged where the
        chain is broken, and `Unavailable`.
        """
        log = NatsLog(jetstream)
        receipt = await find_receipt(log, self.workspace, self.id)
        if receipt is None:
            raise InvalidInput(f"workspace {self.workspace!r} has no receipt {self.id}")
        links = await kept_links(rows, chain_of(subjects.QUESTIONS, receipt.sequence))
        part, places = await chain_part(jetstream, links, [receipt.sequence], self.chain)
        excerpt = ChainExcerpt(**part.model_dump(), place=places[0])
        texts = await logged_texts(log, receipt) if self.with_texts else {}
        return exported(receipt, excerpt, texts)


@dataclass(frozen=True)
class PeriodExport:
    """The receipts of the questions that were asked from `since` on and before `until`; see
    `ReceiptExport`.
    """

    workspace: str
    since: datetime | None = None
    until: datetime | None = None
    with_texts: bool = False
    chain: str = ""

    async def from_log(self, jetstream: JetStreamContext, rows: Rows) -> str:
        """Return the file, read with open stores. Raises as `ReceiptExport.from_log` does, and
        InvalidInput for a period without receipts, or with more than a file holds.
        """
        log = NatsLog(jetstream)
        receipts = await receipts_between(log, self.workspace, self.since, self.until)
        if not receipts:
            raise InvalidInput(f"workspace {self.workspace!r} has no receipts of this period")
        sequences = [receipt.sequence for receipt in receipts]
        links = await kept_links(rows, chain_of(subjects.QUESTIONS, sequences[0]))
        part, places = await chain_part(jetstream, links, sequences, self.chain)
        texts = [
            await logged_texts(log, receipt) if self.with_texts else {} for receipt in receipts
        ]
        return exported_period(receipts, part, places, texts)


async def export_from_stack(export: Export, settings: Settings) -> str:
    """Return the file, as JSON-LD. Raises ConfigurationError, and what `from_log` raises."""
    rows = open_documents(settings)
    try:
        await rows.prepare()
        async with connect_bus(settings.nats_url) as jetstream:
            return await export.from_log(jetstream, rows)
    finally:
        await rows.close()


async def chain_part(
    jetstream: JetStreamContext, links: Sequence[Link], sequences: Sequence[int], until: str
) -> tuple[ChainPart, list[int]]:
    """Return the part of the chain that has the events at these sequences, all of one workspace,
    and their places among its leaves: from the last of these kept links before the first of them up
    to the one with the hash `until`, else the next one, or the end of the log.

    Raises as `ReceiptExport.from_log` does.
    """
    start = max(
        (link for link in links if link.sequence < min(sequences)),
        key=lambda link: link.sequence,
        default=Link(),
    )
    kept_hashes = {link.sequence: link.sha256 for link in links}
    link = start
    leaves: list[str] = []
    places: dict[int, int] = {}

    def part() -> tuple[ChainPart, list[int]]:
        chain = ChainPart(before=start.sha256, leaves=leaves, after=link.sha256)
        return chain, [places[sequence] for sequence in sequences]

    stream = stream_name(partition_at(sequences[0]))
    pages = chained_pages(jetstream, stream, start.sequence, subjects.ALL_QUESTIONS)
    async with aclosing(pages):
        async for page in pages:
            for sequence, chain, leaf in page.leaves:
                if not is_of_questions(chain):
                    continue
                link = link.followed_by(sequence, leaf)
                leaves.append(leaf)
                if kept_hashes.get(sequence, link.sha256) != link.sha256:
                    raise LogDamaged(
                        f"the chain of questions and answers is broken at or before {sequence}: "
                        "`lightstream audit` says more"
                    )
                places[sequence] = len(leaves) - 1
                is_last = link.sha256 == until if until else sequence in kept_hashes
                if is_last and places.keys() >= set(sequences):
                    return part()
    if lost_sequences := set(sequences) - places.keys():
        raise InvalidInput(
            f"the log has no event at {min(lost_sequences)} any more: it was erased meanwhile"
        )
    if until:
        raise InvalidInput(f"the chain had no hash {until:.80} when the receipt came, or later")
    return part()


async def logged_texts(log: Log, receipt: StoredReceipt) -> dict[str, str]:
    """Return the texts of the receipt's passages that the log has as they were, by the passages'
    ids. Raises `Unavailable`.
    """
    passages = receipt.event.evidence.passages
    hashes = {passage.chunk_id: passage.sha256 for passage in passages}
    texts: dict[str, str] = {}
    for document in dict.fromkeys(passage.document_id for passage in passages):
        async for chunk in logged_chunks(log, receipt.answering_workspace, document):
            if hashes.get(chunk.id) == sha256(chunk.content):
                texts[chunk.id] = chunk.content
    return texts
