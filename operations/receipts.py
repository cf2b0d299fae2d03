"""Verifies the receipts of a workspace: their texts, the passages they name, and the chain that has
them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from contracts.partitions import first_sequence, partition_in
from contracts.subjects import QUESTIONS
from contracts.topology import CHECKPOINTS_BUCKET
from operations.audit import Audit
from operations.command_bus import connect_bus
from runtime.bus.chain import Link, chain_of
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.port import Log
from runtime.receipts.reading import receipts_behind
from runtime.receipts.verifying import LoggedPassages, verified_by_log
from runtime.settings import Settings
from runtime.stores.open import open_documents

Report = Callable[[dict[str, Any]], None]


@dataclass
class ReceiptFindings:
    """What was verified of a workspace. `passages`: those whose text in the log has the hash that
    the receipt names; `chain`: the hash in which the chain of questions and answers ends that the
    workspace's partition of the log has.
    """

    receipts: int = 0
    passages: int = 0
    erased: int = 0
    events: int = 0
    chain: str = ""
    problems: list[str] = field(default_factory=list[str])


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
            stream = (await log_streams(jetstream)).of_workspace(workspace)
    finally:
        await rows.close()
    findings.events = chains.events
    chain = chain_of(QUESTIONS, first_sequence(partition_in(stream)))
    findings.chain = audit.question_links.get(chain, Link()).sha256
    findings.problems += chains.problems
    return findings


async def verified(log: Log, workspace: str) -> ReceiptFindings:
    """Compare every receipt of the workspace with itself and with the passages in the log. Raises
    `Unavailable`.
    """
    findings = ReceiptFindings()
    logged_passages = LoggedPassages(log)
    async for receipt in receipts_behind(log, workspace, 0, lambda _: True):
        verification = await verified_by_log(receipt, logged_passages)
        findings.receipts += 1
        findings.erased += receipt.event.form == "erased"
        findings.passages += verification.passages
        findings.problems += verification.problems
    return findings
