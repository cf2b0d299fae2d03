"""Words of an erased document stand in no file of the bus, although an answer quoted them, and the
chain of answers is as it was.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts.events import (
    AnswerEvidence,
    AnswerGiven,
    AnswerSettings,
    CitedDocument,
    DocumentAdded,
    EvidencePassage,
    FeedbackGiven,
    RecordedText,
)
from contracts.ids import sha256
from contracts.topology import CHECKPOINTS_BUCKET
from operations.audit import audit_log
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from operations.receipt_export import PeriodExport, ReceiptExport
from runtime.bus import topology
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput
from runtime.projections.log_archive import LogArchive, archived_records
from runtime.receipts.exported import ExportedReceipt
from runtime.receipts.ids import time_ordered_id
from runtime.receipts.period import read_export
from runtime.receipts.reading import ReceiptFilter, newest_receipts
from runtime.stores.documents.memory import MemoryRows
from tests.support.events import sealed
from tests.support.nats_server import connected, running_nats
from tests.support.stored_bytes import files_with

CANARY = "quillfeather"
SETTINGS = AnswerSettings(
    mode="naive",
    top_k=1,
    chunk_top_k=1,
    max_entity_tokens=1,
    max_relation_tokens=1,
    max_total_tokens=1,
)


def answer(text: str, document: str) -> AnswerGiven:
    """A full receipt of an answer that rests on one document."""
    now = datetime.now(UTC)
    passage = EvidencePassage(
        chunk_id=f"{document}-chunk-000", document_id=document, sha256=sha256(text)
    )
    return AnswerGiven(
        receipt=time_ordered_id(now),
        form="full",
        asked_at=now,
        duration_ms=1,
        position=1,
        settings=SETTINGS,
        question=RecordedText(sha256=sha256(text), text=text),
        evidence=AnswerEvidence(documents=(document,), passages=(passage,)),
        answer=RecordedText(sha256=sha256(text), text=text),
    )


async def test_an_answer_that_quoted_it_is_written_anew_and_the_chain_stays(tmp_path: Path) -> None:
    async with running_nats(tmp_path) as server, connected(server) as client:
        bus = client.jetstream(timeout=5)
        await topology.apply(bus)
        log = NatsLog(bus)
        rows = MemoryRows()
        archive = LogArchive(bus, rows, await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET))
        secret = f"The {CANARY} came. " * 2000
        for document, text in (("secret", secret), ("other", "Nothing of note.")):
            await log.publish(sealed(DocumentAdded(document_id=document, text=text), id=document))
            event = answer(text, document)
            await log.publish(sealed(event, id=event.receipt, actor="key:reader"))
            cited = (CitedDocument(id=document),)
            feedback = FeedbackGiven(rating="up", question=text[:30], documents=cited)
            await log.publish(sealed(feedback, id=f"feedback on {document}"))
        await archive.extend()
        assert files_with(server.folder, CANARY.encode())
        ids = {
            receipt.event.evidence.documents[0]: receipt.event.receipt
            for receipt in await newest_receipts(NatsEventFeed(bus), "w", ReceiptFilter(), 0, 10)
        }
        exports = {name: ReceiptExport("w", id, with_texts=True) for name, id in ids.items()}
        files_before = {name: await export.from_log(bus, rows) for name, export in exports.items()}
        whole = PeriodExport("w", since=datetime.now(UTC) - timedelta(days=1), with_texts=True)
        period_before = await whole.from_log(bus, rows)
        assert CANARY in period_before
        with pytest.raises(InvalidInput, match="no receipts of this period"):
            await replace(whole, since=None, until=whole.since).from_log(bus, rows)
        plan = await plan_erasure(bus, "w", "secret")
        assert plan.counts()["answers"] == 1
        for _ in range(2):
            await publish_tombstones(bus, plan, "asked for")
            await remove(bus, plan)
        await archive.extend()
        assert files_with(server.folder, CANARY.encode()) == []
        archived = [record.data async for record in archived_records(rows)]
        assert CANARY.encode() not in b"".join(archived)
        findings = await audit_log(bus, bus, rows, lambda _: None)
        assert (findings.problems, findings.workspaces) == ([], 1)
        receipts = await newest_receipts(NatsEventFeed(bus), "w", ReceiptFilter(), 0, 10)
        forms = {receipt.event.evidence.documents[0]: receipt.event.form for receipt in receipts}
        assert forms == {"secret": "erased", "other": "full"}
        assert {receipt.asker for receipt in receipts} == {"key:reader"}
        assert (await plan_erasure(bus, "w", "secret")).answer_leaves == {}
        files_after = {name: await export.from_log(bus, rows) for name, export in exports.items()}
        assert (CANARY in files_before["secret"], CANARY in files_after["secret"]) == (True, False)
        for file in (*files_before.values(), *files_after.values()):
            assert ExportedReceipt.of(file.encode()).verify().problems == []
        period_after = await whole.from_log(bus, rows)
        assert CANARY not in period_after
        for file in (period_before, period_after):
            findings = read_export(file.encode()).verify()
            assert (findings.receipts, findings.problems) == (2, [])
        chain = ExportedReceipt.of(files_before["other"].encode()).verify().chain
        longer_file = await replace(exports["other"], chain=chain).from_log(bus, rows)
        assert ExportedReceipt.of(longer_file.encode()).file.proof.chain.has_link(chain)
        with pytest.raises(InvalidInput, match="no hash"):
            await replace(exports["secret"], chain=chain).from_log(bus, rows)
