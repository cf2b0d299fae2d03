"""Audits the log: every event is what the chain of its workspace has, every sequence without an
event was erased.
"""

import json
import math
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import astuple, dataclass, field
from typing import Any

from nats.js import JetStreamContext

from contracts import subjects
from contracts.partitions import is_log
from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from operations import checkpoints
from operations.command_bus import connect_bus
from runtime.bus.chain import Link, joint_hash
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log_evidence import collect_log_evidence, observe_log
from runtime.bus.nats.log_integrity import EarlierLook
from runtime.bus.nats.log_streams import sole_stream
from runtime.bus.port import SharedValues
from runtime.bus.records import leaf
from runtime.errors import ServiceError
from runtime.projections.audit_progress import (
    MOST_LINKS,
    AuditProgress,
    read_audit_progress,
    write_audit_progress,
)
from runtime.projections.log_archive import (
    CHAIN_KEY,
    LogArchive,
    archive_table,
    chained_pages,
    holes_accepted_to,
    kept_links,
    key_of,
    record_in,
)
from runtime.projections.verdicts import AUDITOR, Verdict, write_verdict
from runtime.settings import Settings
from runtime.stores.documents.checkpoints import read_mark
from runtime.stores.documents.port import Rows
from runtime.stores.open import open_documents

MOST_PROBLEMS = 20
"""Problems that are noted on the bus."""

Report = Callable[[dict[str, Any]], None]


@dataclass
class Findings:
    """What an audit found. `chained`: events whose place in a chain was noted by an earlier audit
    or the archive.

    `complete`: whether it reached the end of the log; a part of a rolling audit may not.
    """

    events: int = 0
    last: int = 0
    workspaces: int = 0
    chained: int = 0
    problems: list[str] = field(default_factory=list[str])
    complete: bool = True


@dataclass
class Audit:
    """One audit under way."""

    jetstream: JetStreamContext
    rows: Rows
    values: SharedValues
    report: Report
    findings: Findings = field(default_factory=Findings)
    links: dict[str, Link] = field(default_factory=dict[str, Link])
    noted_links: dict[str, list[Link]] = field(default_factory=dict[str, list[Link]])
    """Links of each workspace's chain that are still to be met, in order."""
    verified_to: dict[str, int] = field(default_factory=dict[str, int])
    """Sequence of the last link of each workspace that was as noted."""
    joint: tuple[int, str] = (0, "")
    cpu_seconds: float = math.inf
    """Seconds of CPU after which it stops, between two pages."""
    missing_sequences: list[int] = field(default_factory=list[int])

    def go_on(self, progress: AuditProgress) -> None:
        """Begin where a part ended."""
        self.findings.last, self.findings.events = progress.position, progress.events
        self.findings.problems, self.missing_sequences = [*progress.problems], [*progress.missing]
        self.links = {workspace: Link(*link) for workspace, link in progress.links.items()}

    async def run(self) -> Findings:
        """Read the whole log and compare. Raises `Unavailable` without the bus or the document
        store.
        """
        await self._read_notes()
        await self._compare_marks()
        try:
            await self._read_log()
        except ServiceError as error:
            self.findings.problems.append(
                f"the log cannot be read behind sequence {self.findings.last}: {error}"
            )
        if self.findings.complete:
            await self._end()
        self.findings.problems += [
            f"sequences {first} to {last_sequence} hold no event, and no erasure says why"
            for first, last_sequence in _ranges(self.missing_sequences)
        ]
        self.findings.workspaces = len(
            self.links.keys() - {subjects.QUESTIONS}
        )  # a chain of its own
        return self.findings

    async def _read_log(self) -> None:
        end = (await observe_log(self.jetstream)).last_sequence
        began = time.process_time()
        accepted_to = await holes_accepted_to(self.rows)
        async with aclosing(chained_pages(self.jetstream, self.findings.last)) as pages:
            async for page in pages:
                self.missing_sequences += [
                    sequence for sequence in page.missing_sequences if sequence > accepted_to
                ]
                self.findings.events += len(page.records)
                self.findings.last = page.records[-1].sequence
                for sequence, workspace, leaf_hash in page.leaves:
                    await self._add(sequence, workspace, leaf_hash)
                self.report({"position": self.findings.last, "end": end})
                if time.process_time() - began >= self.cpu_seconds and self.findings.last < end:
                    self.findings.complete = False
                    return

    async def _read_notes(self) -> None:
        for partition in await self.rows.partitions("chain"):
            links = await kept_links(self.rows, partition.workspace)
            # The head may stand under its sequence, too.
            to_meet = {link for link in links if link.sequence > self.findings.last}
            self.noted_links[partition.workspace] = sorted(to_meet, key=lambda link: link.sequence)
            self.findings.chained += max(link.events for link in links)
        note, _ = await self.values.read(CHAIN_KEY)
        if note:
            at, noted_hash = (note := json.loads(note))["sequence"], note["sha256"]
            self.joint = (at, noted_hash) if at > self.findings.last else (0, "")

    async def _compare_marks(self) -> None:
        names = [consumer.name for consumer in CONSUMERS if is_log(consumer.stream)]
        stream = await sole_stream(self.jetstream, "an audit")
        earlier_looks = {stream: EarlierLook(stored_mark=await read_mark(self.rows))}
        evidence = await collect_log_evidence(self.jetstream, self.values, names, earlier_looks)
        try:
            damage = await evidence.damage(self.jetstream, self.values, hashes=True)
        except ServiceError as error:
            damage = f"the last event that was seen cannot be read: {error}"
        if damage:
            self.findings.problems.append(damage)

    async def _add(self, sequence: int, workspace: str, leaf_hash: str) -> None:
        self._compare_joint(sequence)
        noted_links = self.noted_links.get(workspace, [])
        if noted_links and noted_links[0].sequence < sequence:
            await self._broken(workspace, noted_links[0].sequence)
        self.links[workspace] = self.links.get(workspace, Link()).followed_by(sequence, leaf_hash)
        if noted_links and noted_links[0].sequence == sequence:
            if noted_links[0] == self.links[workspace]:
                self.verified_to[workspace] = noted_links.pop(0).sequence
            else:
                await self._broken(workspace, sequence)

    def _compare_joint(self, sequence: int) -> None:
        """Compare the chains with the bus's note of them, when all of them are as far as that."""
        at, noted_hash = self.joint
        if at and sequence > at:
            if joint_hash(self.links) != noted_hash and not self.findings.problems:
                self.findings.problems.append(
                    f"the events up to sequence {at} are not those that the bus noted"
                )
            self.joint = 0, ""

    async def _broken(self, workspace: str, to: int) -> None:
        """Note a break between the last link that was as noted and this one; what follows it cannot
        be compared.
        """
        self.noted_links[workspace] = []
        after = self.verified_to.get(workspace, 0)
        where = await self._locate(workspace, after, to)
        self.findings.problems.append(
            f"the chain of workspace {workspace} is broken between sequences {after} and {to}"
            + (f": the archive has another event at {where}" if where else "")
        )

    async def _locate(self, workspace: str, after: int, to: int) -> str:
        """Return the first sequence at which the archive differs from the log; empty where it has
        nothing to say.
        """
        archived_leaves = {
            int(key): leaf(record_in(row))
            for key, row in await self.rows.scan(archive_table(workspace), key_of(after), 10_000)
            if int(key) <= to
        }
        if not archived_leaves:
            return ""
        with suppress(ServiceError):
            stream = await sole_stream(self.jetstream, "an audit")
            async with aclosing(read_records(self.jetstream, stream, after)) as pages:
                async for page in pages:
                    for record in page:
                        if archived_leaves.pop(record.sequence, "") not in ("", leaf(record)):
                            return str(record.sequence)
                    if page[-1].sequence >= to:
                        break
        return str(min(archived_leaves, default=""))

    async def _end(self) -> None:
        self._compare_joint(self.findings.last + 1 if self.joint[0] <= self.findings.last else 0)
        for workspace, noted_links in self.noted_links.items():
            if noted_links:
                await self._broken(workspace, noted_links[-1].sequence)


async def audit(settings: Settings, report: Report, *, accept: bool = False) -> Findings:
    """Audit the log of a stack, and extend its chains where all is well; else services write no
    more.

    `accept`: whatever is found, the log as it is counts from now on. Raises `Unavailable` or
    ConfigurationError.
    """
    url = settings.nats_url
    rows = open_documents(settings)
    try:
        await rows.prepare()
        async with connect_bus(url) as reader, connect_bus(url) as jetstream:
            return await audit_log(reader, jetstream, rows, report, accept=accept)
    finally:
        await rows.close()


async def audit_log(
    reader: JetStreamContext,
    jetstream: JetStreamContext,
    rows: Rows,
    report: Report,
    *,
    accept: bool = False,
) -> Findings:
    """Audit a log with open stores, as `audit` does.

    The log is read by a connection of its own, for a message with a damaged head ends the one that
    reads it.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    findings = await Audit(reader, rows, values, report).run()
    if findings.problems and accept:
        await checkpoints.accept_loss(jetstream, rows)
    if not findings.problems or accept:
        await LogArchive(jetstream, rows, values, copies=False).extend()
    damage = "" if accept else "; ".join(findings.problems[:3])
    await write_verdict(values, AUDITOR, Verdict(f"audit: {damage}" if damage else ""))
    return findings


async def audit_part(settings: Settings, cpu_seconds: float) -> Findings:
    """Audit the next part of a stack's log, with so many seconds of CPU at most, and note on the
    bus how far it came.

    Where something is found services write no more, as after a whole audit; where a pass ended well
    the chains are extended. Raises `Unavailable` or ConfigurationError.
    """
    url = settings.nats_url
    rows = open_documents(settings)
    try:
        await rows.prepare()
        async with connect_bus(url) as reader, connect_bus(url) as jetstream:
            return await audit_part_of_log(reader, jetstream, rows, cpu_seconds)
    finally:
        await rows.close()


async def audit_part_of_log(
    reader: JetStreamContext, jetstream: JetStreamContext, rows: Rows, cpu_seconds: float
) -> Findings:
    """Audit the next part of a log with open stores, as `audit_part` does."""
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    log = await observe_log(jetstream)
    before = await read_audit_progress(values)
    part = Audit(reader, rows, values, lambda _: None, cpu_seconds=cpu_seconds)
    if before and before.is_under_way and before.links and before.log == log.created_at:
        part.go_on(before)
    findings = await part.run()
    finished_at = time.time() if findings.complete else before.finished_at if before else 0.0
    links = {} if findings.complete or len(part.links) > MOST_LINKS else part.links
    progress = AuditProgress(
        log=log.created_at,
        position=findings.last,
        end=findings.last if findings.complete else log.last_sequence,
        finished_at=finished_at,
        problems=findings.problems[:MOST_PROBLEMS],
        missing=part.missing_sequences[:MOST_PROBLEMS],
        events=findings.events,
        links={workspace: astuple(link) for workspace, link in links.items()},
    )
    await write_audit_progress(values, progress)
    if findings.complete and not findings.problems:
        await LogArchive(jetstream, rows, values, copies=False).extend()
    if findings.complete or findings.problems:
        damage = "; ".join(findings.problems[:3])
        await write_verdict(values, AUDITOR, Verdict(f"audit: {damage}" if damage else ""))
    return findings


def _ranges(sequences: list[int]) -> list[tuple[int, int]]:
    """Return first and last of each run of successive numbers."""
    ranges: list[tuple[int, int]] = []
    for sequence in sequences:
        if ranges and ranges[-1][1] == sequence - 1:
            ranges[-1] = ranges[-1][0], sequence
        else:
            ranges.append((sequence, sequence))
    return ranges
