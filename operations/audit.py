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

from contracts.partitions import first_sequence, is_log, number_at, partition_at, partition_in
from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from operations import checkpoints
from operations.command_bus import connect_bus
from runtime.bus.chain import Link, is_of_questions, joint_hash
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log_evidence import collect_log_evidence, observe_log
from runtime.bus.nats.log_integrity import EarlierLook, LogState, observe
from runtime.bus.nats.log_integrity import key_of as stream_key
from runtime.bus.nats.log_streams import log_streams
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
    read_links,
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
    """What an audit found. `last`: the sequence up to which it read, in a log of several partitions
    how many sequences there are up to there. `chained`: events whose place in a chain was noted by
    an earlier audit or the archive.

    `complete`: whether it reached the end of the log; a part of a rolling audit may not.
    """

    events: int = 0
    last: int = 0
    workspaces: int = 0
    chained: int = 0
    problems: list[str] = field(default_factory=list[str])
    complete: bool = True

    def add(self, part: "Findings") -> None:
        """Add what the audit of the next stream found."""
        self.events += part.events
        self.last += number_at(part.last)
        self.workspaces += part.workspaces
        self.chained += part.chained
        self.problems += part.problems
        self.complete = part.complete


@dataclass
class StreamAudit:
    """One audit of one stream of the log under way."""

    jetstream: JetStreamContext
    rows: Rows
    values: SharedValues
    stream: str
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

    def __post_init__(self) -> None:
        self.findings.last = first_sequence(partition_in(self.stream)) - 1

    def go_on(self, progress: AuditProgress) -> None:
        """Begin where a part ended."""
        self.findings.last = progress.place or progress.position
        self.findings.events = progress.events
        self.findings.problems, self.missing_sequences = [*progress.problems], [*progress.missing]
        self.links = {chain: Link(*link) for chain, link in progress.links.items()}

    async def run(self) -> Findings:
        """Read the whole stream and compare. Raises `Unavailable` without the bus or the document
        store.
        """
        await self._read_notes()
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
        self.findings.workspaces = sum(not is_of_questions(chain) for chain in self.links)
        return self.findings

    async def _read_log(self) -> None:
        end = (await observe(self.jetstream, self.stream)).last_sequence
        began = time.process_time()
        accepted_to = await holes_accepted_to(self.rows, self.stream)
        pages = chained_pages(self.jetstream, self.stream, self.findings.last)
        async with aclosing(pages):
            async for page in pages:
                self.missing_sequences += [
                    sequence for sequence in page.missing_sequences if sequence > accepted_to
                ]
                self.findings.events += len(page.records)
                self.findings.last = page.end
                for sequence, chain, leaf_hash in page.leaves:
                    await self._add(sequence, chain, leaf_hash)
                self.report({"position": number_at(self.findings.last), "end": number_at(end)})
                if time.process_time() - began >= self.cpu_seconds and self.findings.last < end:
                    self.findings.complete = False
                    return

    async def _read_notes(self) -> None:
        for chain in await read_links(self.rows, self.stream):
            links = await kept_links(self.rows, chain)
            # The head may stand under its sequence, too.
            to_meet = {link for link in links if link.sequence > self.findings.last}
            self.noted_links[chain] = sorted(to_meet, key=lambda link: link.sequence)
            self.findings.chained += max(link.events for link in links)
        note, _ = await self.values.read(stream_key(CHAIN_KEY, self.stream))
        if note:
            at, noted_hash = (note := json.loads(note))["sequence"], note["sha256"]
            self.joint = (at, noted_hash) if at > self.findings.last else (0, "")

    async def _add(self, sequence: int, chain: str, leaf_hash: str) -> None:
        self._compare_joint(sequence)
        noted_links = self.noted_links.get(chain, [])
        if noted_links and noted_links[0].sequence < sequence:
            await self._broken(chain, noted_links[0].sequence)
        self.links[chain] = self.links.get(chain, Link()).followed_by(sequence, leaf_hash)
        if noted_links and noted_links[0].sequence == sequence:
            if noted_links[0] == self.links[chain]:
                self.verified_to[chain] = noted_links.pop(0).sequence
            else:
                await self._broken(chain, sequence)

    def _compare_joint(self, sequence: int) -> None:
        """Compare the chains with the bus's note of them, when all of them are as far as that."""
        at, noted_hash = self.joint
        if at and sequence > at:
            if joint_hash(self.links) != noted_hash and not self.findings.problems:
                self.findings.problems.append(
                    f"the events up to sequence {at} are not those that the bus noted"
                )
            self.joint = 0, ""

    async def _broken(self, chain: str, to: int) -> None:
        """Note a break between the last link that was as noted and this one; what follows it cannot
        be compared.
        """
        self.noted_links[chain] = []
        after = self.verified_to.get(chain, first_sequence(partition_in(self.stream)) - 1)
        where = await self._locate(chain, after, to)
        self.findings.problems.append(
            f"the chain of workspace {chain} is broken between sequences {after} and {to}"
            + (f": the archive has another event at {where}" if where else "")
        )

    async def _locate(self, chain: str, after: int, to: int) -> str:
        """Return the first sequence at which the archive differs from the log; empty where it has
        nothing to say.
        """
        archived_leaves = {
            int(key): leaf(record_in(row))
            for key, row in await self.rows.scan(archive_table(chain), key_of(after), 10_000)
            if int(key) <= to
        }
        if not archived_leaves:
            return ""
        with suppress(ServiceError):
            async with aclosing(read_records(self.jetstream, self.stream, after)) as pages:
                async for page in pages:
                    for record in page:
                        if archived_leaves.pop(record.sequence, "") not in ("", leaf(record)):
                            return str(record.sequence)
                    if page[-1].sequence >= to:
                        break
        return str(min(archived_leaves, default=""))

    async def _end(self) -> None:
        self._compare_joint(self.findings.last + 1 if self.joint[0] <= self.findings.last else 0)
        for chain, noted_links in self.noted_links.items():
            if noted_links:
                await self._broken(chain, noted_links[-1].sequence)


@dataclass
class Audit:
    """One audit of the log under way, one stream after the other."""

    jetstream: JetStreamContext
    rows: Rows
    values: SharedValues
    report: Report
    cpu_seconds: float = math.inf
    findings: Findings = field(default_factory=Findings)
    last_part: StreamAudit | None = None
    """That of the stream that was read last."""
    question_links: dict[str, Link] = field(default_factory=dict[str, Link])
    """The ends of the chains of what is about questions."""

    async def run(self, before: AuditProgress | None = None) -> Findings:
        """Read the log and compare, from where the part `before` ended. Raises `Unavailable`
        without the bus or the document store.
        """
        names = (await log_streams(self.jetstream)).names
        self.findings.problems = await self._compare_marks()
        place = before.place or before.position if before else 0
        if before:
            self.findings.last = before.position - number_at(place)
        began = time.process_time()
        for stream in names[partition_at(place) :]:
            part = StreamAudit(self.jetstream, self.rows, self.values, stream, self.report)
            part.cpu_seconds = self.cpu_seconds - (time.process_time() - began)
            if before and self.last_part is None:
                part.go_on(before)
            self.findings.add(await part.run())
            self.last_part = part
            self.question_links |= {
                chain: link for chain, link in part.links.items() if is_of_questions(chain)
            }
            if not self.findings.complete:
                break
        return self.findings

    def progress(self, log: LogState, finished_at: float) -> AuditProgress:
        """Return how far a part came, for the next one. `finished_at`: when a whole pass ended."""
        assert self.last_part is not None, "it was run"
        is_complete = self.findings.complete
        links = self.last_part.links
        is_noted = not is_complete and len(links) <= MOST_LINKS
        return AuditProgress(
            log=log.created_at,
            position=self.findings.last,
            end=self.findings.last if is_complete else log.last_sequence,
            finished_at=finished_at,
            problems=self.findings.problems[:MOST_PROBLEMS],
            missing=self.last_part.missing_sequences[:MOST_PROBLEMS],
            events=self.findings.events,
            links={chain: astuple(link) for chain, link in links.items()} if is_noted else {},
            place=self.last_part.findings.last,
        )

    async def _compare_marks(self) -> list[str]:
        """Return how the log contradicts what it was seen to be."""
        names = [consumer.name for consumer in CONSUMERS if is_log(consumer.stream)]
        earlier_looks = {
            stream: EarlierLook(stored_mark=await read_mark(self.rows, stream))
            for stream in (await log_streams(self.jetstream)).names
        }
        evidence = await collect_log_evidence(self.jetstream, self.values, names, earlier_looks)
        try:
            damage = await evidence.damage(self.jetstream, self.values, hashes=True)
        except ServiceError as error:
            damage = f"the last event that was seen cannot be read: {error}"
        return [damage] if damage else []


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
    work = Audit(reader, rows, values, lambda _: None, cpu_seconds)
    goes_on = before and before.is_under_way and before.links and before.log == log.created_at
    findings = await work.run(before if goes_on else None)
    finished_at = time.time() if findings.complete else before.finished_at if before else 0.0
    await write_audit_progress(values, work.progress(log, finished_at))
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
