"""The archive: the hash chain of each workspace, and a copy of every event, in the document store.

It does not share the fate of the bus: what the log no longer says as it once did, the chain shows
and the archive has.
"""

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, field

import structlog
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from contracts import subjects
from contracts.graph import Partition
from contracts.partitions import (
    LogPosition,
    first_sequence,
    partition_at,
    partition_in,
    stream_name,
)
from runtime.bus.chain import Link, chain_of, erased_by, joint_hash
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.log_integrity import key_of as stream_key
from runtime.bus.nats.log_integrity import observe
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.port import SharedValues
from runtime.bus.records import Record, leaf, line_of, parse_line
from runtime.bus.write_status import WriteStatus
from runtime.concurrency.background import in_background
from runtime.errors import ServiceError
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.schema import CHECKPOINTS

logger = structlog.get_logger(__name__)

INTERVAL = 5.0
"""Seconds between two looks at the end of the log."""

STEP = 500
"""Events of a workspace after which a link of its chain is kept: a break is found between two of
them.
"""

HEAD = "head"
"""Key of a chain's newest link; the others stand under their sequences."""

CHAIN_KEY = "chain"
ARCHIVE_KEY = "archive"
HOLES_KEY = "accepted_holes"
"""Where the document store, and the bus, note how far they are, for each stream of the log."""

TOMBSTONES = subjects.of_type("DocumentErased")


@dataclass(frozen=True)
class ChainedPage:
    """Some messages of a stream in order, up to the sequence `end`. `leaves`: (sequence, chain,
    leaf), those of erased events too.

    `missing_sequences`: sequences up to there that hold nothing and were not erased.
    """

    records: Sequence[Record]
    leaves: Sequence[tuple[int, str, str]]
    missing_sequences: Sequence[int]
    end: int


def chain_table(chain: str) -> Table:
    """Return the table of a chain, by its name."""
    return Table("chain", Partition(chain, 0))


def archive_table(chain: str) -> Table:
    """Return the table of the archived events of a chain, by its name."""
    return Table("archive", Partition(chain, 0))


def key_of(sequence: int) -> str:
    """Return the key of what stands at a sequence."""
    return f"{sequence:012}"


async def chained_pages(
    jetstream: JetStreamContext, stream: str, after: int, subject: str | None = None
) -> AsyncGenerator[ChainedPage]:
    """Yield a stream of the log behind `after`. With a `subject`, messages of other subjects count
    as missing.
    """
    after = max(after, first_sequence(partition_in(stream)) - 1)
    count = (await log_streams(jetstream)).count
    async with aclosing(read_records(jetstream, stream, after, subject=subject)) as pages:
        async for page in pages:
            records_by_sequence = {record.sequence: record for record in page}
            holes = [
                sequence
                for sequence in range(after + 1, page[-1].sequence)
                if sequence not in records_by_sequence
            ]
            leaves = [
                (record.sequence, _chain_of(record, count), leaf(record))
                for record in page
                if subjects.is_event(record.subject)
            ]
            yield await _chained_page(jetstream, stream, page, leaves, holes)
            after = page[-1].sequence
    if len((await log_streams(jetstream)).homes_after(stream)) > 1:
        # The tombstones of what workspaces had here may stand where they are now: nothing is behind
        # the last event that is erased, then.
        end = (await observe(jetstream, stream)).last_sequence
        tail = await _chained_page(jetstream, stream, [], [], [*range(after + 1, end + 1)])
        if tail.leaves:
            yield tail


async def _chained_page(
    jetstream: JetStreamContext,
    stream: str,
    records: Sequence[Record],
    leaves: Sequence[tuple[int, str, str]],
    holes: Sequence[int],
) -> ChainedPage:
    """Return a page of these records with the leaves of what was erased between them."""
    # Read behind the page: a tombstone is written before its events are removed.
    erased_leaves = await _erased_behind(jetstream, stream, holes[0]) if holes else {}
    hole_leaves = [
        (sequence, *erased_leaves[sequence]) for sequence in holes if sequence in erased_leaves
    ]
    all_leaves = sorted([*leaves, *hole_leaves])
    last_sequence = (
        records[-1].sequence if records else max((place for place, _, _ in hole_leaves), default=0)
    )
    missing_sequences = [
        place for place in holes if place not in erased_leaves and place < last_sequence
    ]
    return ChainedPage(records, all_leaves, missing_sequences, last_sequence)


def _chain_of(record: Record, count: int) -> str:
    return chain_of(subjects.workspace_token(record.subject), record.sequence, count)


async def _erased_behind(
    jetstream: JetStreamContext, stream: str, sequence: int
) -> dict[int, tuple[str, str]]:
    """Return the token of the chain, and the leaf, of each erased event whose tombstone stands
    behind the sequence, or in another partition if its workspace was moved to that since.
    """
    erased_leaves: dict[int, tuple[str, str]] = {}
    streams = await log_streams(jetstream)
    for later_stream in streams.homes_after(stream):
        pages = read_records(jetstream, later_stream, sequence, subject=TOMBSTONES)
        async with aclosing(pages):
            async for page in pages:
                erased_leaves |= {
                    erasure.sequence: (erasure.chain, erasure.leaf)
                    for erasure in erased_by(page, streams.count)
                }
    return erased_leaves


@dataclass
class LogArchive:
    """Extends the chains, and with `copies` the archive. Every process that does so writes the
    same.
    """

    jetstream: JetStreamContext
    rows: Rows
    values: SharedValues
    copies: bool = True
    _archives: dict[str, "StreamArchive"] = field(default_factory=dict[str, "StreamArchive"])

    async def extend(self, subject: str | None = None) -> int:
        """Take in what the log has got, and return how many messages. Raises `Unavailable`."""
        record_count = 0
        for stream in (await log_streams(self.jetstream)).names:
            own_archive = StreamArchive(self.jetstream, self.rows, self.values, stream, self.copies)
            record_count += await self._archives.setdefault(stream, own_archive).extend(subject)
        return record_count


@dataclass
class StreamArchive:
    """Extends the chains of one stream of the log, and with `copies` their archive."""

    jetstream: JetStreamContext
    rows: Rows
    values: SharedValues
    stream: str
    copies: bool = True
    chained_to: int = 0
    """Sequence up to which the chains hold everything."""
    links: dict[str, Link] = field(default_factory=dict[str, Link])

    async def extend(self, subject: str | None = None) -> int:
        """Take in what the log has got, and return how many messages. Raises `Unavailable`."""
        state = await observe(self.jetstream, self.stream)
        record_count = 0
        noted_to = await self._position(CHAIN_KEY)
        archived_to = await self._position(ARCHIVE_KEY) if self.copies else noted_to
        if noted_to != self.chained_to or not self.links:
            self.links = await read_links(self.rows, self.stream)
            self.chained_to = noted_to
        if min(self.chained_to, archived_to) >= state.last_sequence:
            return 0
        begin = min(self.chained_to, archived_to)
        pages = chained_pages(self.jetstream, self.stream, begin, subject)
        async with aclosing(pages):
            async for page in pages:
                if self.copies:
                    await self._copy(
                        [record for record in page.records if record.sequence > archived_to]
                    )
                    await self._note(ARCHIVE_KEY, page.end, state.created_at)
                if page.end > self.chained_to:
                    await self.add(page, state.created_at)
                record_count += len(page.records)
        if record_count:
            await self._note_on_bus()
        return record_count

    async def add(self, page: ChainedPage, log: str) -> None:
        """Add a page to the chains. `log`: when its stream was created."""
        changed_links: dict[str, Link] = {}
        before: dict[str, Link] = {}
        for sequence, chain, leaf_hash in page.leaves:
            link = self.links.get(chain, Link())
            # A process that was killed has noted links, and not yet how far it was.
            if sequence > link.sequence:
                before.setdefault(chain, link)
                self.links[chain] = changed_links[chain] = link.followed_by(sequence, leaf_hash)
        for chain, link in changed_links.items():
            rows = {HEAD: asdict(link)}
            if link.events // STEP > before[chain].events // STEP:
                rows[key_of(link.sequence)] = asdict(link)
            await self.rows.put_newer(chain_table(chain), rows, "sequence")
        self.chained_to = page.end
        await self._note(CHAIN_KEY, self.chained_to, log)

    async def _copy(self, records: Sequence[Record]) -> None:
        by_chain: dict[str, dict[str, Row]] = {}
        count = (await log_streams(self.jetstream)).count
        for record in records:
            if subjects.is_event(record.subject):
                _, document, _ = subjects.split(record.subject)
                row: Row = {"document": document, "line": zlib.compress(line_of(record), 1)}
                by_chain.setdefault(_chain_of(record, count), {})[key_of(record.sequence)] = row
        for chain, rows in by_chain.items():
            await self.rows.put(archive_table(chain), rows)
        # Those that an erasure names must not stay, whoever copied them.
        erased_keys: dict[str, list[str]] = {}
        for erasure in erased_by(records, count):
            erased_keys.setdefault(erasure.chain, []).append(key_of(erasure.sequence))
        for chain, keys in erased_keys.items():
            await self.rows.delete(archive_table(chain), keys)

    async def _position(self, name: str) -> int:
        key = stream_key(name, self.stream)
        row = (await self.rows.get(CHECKPOINTS, [key])).get(key)
        return int(row["sequence"]) if row else first_sequence(partition_in(self.stream)) - 1

    async def _note(self, name: str, sequence: int, log: str) -> None:
        row = {"sequence": sequence, "log": log}
        await self.rows.put_newer(CHECKPOINTS, {stream_key(name, self.stream): row}, "sequence")

    async def _note_on_bus(self) -> None:
        """Note one hash over the chains on the bus: the document store may be lost, too."""
        key = stream_key(CHAIN_KEY, self.stream)
        _, revision = await self.values.read(key)
        note = {"sequence": self.chained_to, "sha256": joint_hash(self.links)}
        await self.values.write(key, json.dumps(note).encode(), revision)


async def read_links(rows: Rows, stream: str) -> dict[str, Link]:
    """Return the newest link of every chain of a stream."""
    links: dict[str, Link] = {}
    for partition in await rows.partitions("chain"):
        row = (await rows.get(chain_table(partition.workspace), [HEAD])).get(HEAD)
        if row and partition_at(row["sequence"]) == partition_in(stream):
            links[partition.workspace] = Link(**row)
    return links


async def kept_links(rows: Rows, chain: str) -> list[Link]:
    """Return the links of a chain that are kept, by its name, in the order of the log; the newest
    may stand there twice.
    """
    links: list[Link] = []
    after = ""
    while page := await rows.scan(chain_table(chain), after):
        links += [Link(**row) for _, row in page]
        after = page[-1][0]
    return sorted(links, key=lambda link: link.sequence)


async def archived_records(rows: Rows) -> AsyncGenerator[Record]:
    """Yield every archived event, a chain after the other, each in the order of the log."""
    for partition in sorted(
        await rows.partitions("archive"), key=lambda archive_partition: archive_partition.workspace
    ):
        after = ""
        while page := await rows.scan(archive_table(partition.workspace), after, 200):
            for _, row in page:
                yield record_in(row)
            after = page[-1][0]


async def accept_holes(rows: Rows, stream: str, end: int) -> None:
    """Note that sequences of a stream without an event up to `end` are known and accepted."""
    await rows.put(CHECKPOINTS, {stream_key(HOLES_KEY, stream): {"sequence": end}})


async def holes_accepted_to(rows: Rows, stream: str) -> int:
    """Return up to where sequences of a stream without an event are accepted."""
    key = stream_key(HOLES_KEY, stream)
    return int((await rows.get(CHECKPOINTS, [key])).get(key, {}).get("sequence", 0))


def record_in(row: Row) -> Record:
    """Return the event that a row of the archive holds."""
    return parse_line(zlib.decompress(row["line"]))


async def begin_anew(rows: Rows, values: SharedValues, end: LogPosition) -> None:
    """Forget all chains, and archived events behind `end`: the log as it is now was accepted."""
    for partition in await rows.partitions("chain"):
        await rows.drop(chain_table(partition.workspace))
    for partition in await rows.partitions("archive"):
        await _forget_behind(rows, archive_table(partition.workspace), end)
    for number, last_sequence in enumerate(end.sequences):
        stream = stream_name(number)
        chain_key, archive_key = stream_key(CHAIN_KEY, stream), stream_key(ARCHIVE_KEY, stream)
        archive_position = (await rows.get(CHECKPOINTS, [archive_key])).get(archive_key)
        await rows.delete(CHECKPOINTS, [chain_key, archive_key])
        if archive_position:
            sequence = min(last_sequence, archive_position["sequence"])
            await rows.put(CHECKPOINTS, {archive_key: {**archive_position, "sequence": sequence}})
        _, revision = await values.read(chain_key)
        if revision:
            await values.write(chain_key, b"", revision)


async def _forget_behind(rows: Rows, table: Table, end: LogPosition) -> None:
    """Remove the rows of an archive behind `end`; all of them are of one partition."""
    if not (first_page := await rows.scan(table, "", 1)):
        return
    last_sequence = end.sequences[partition_at(int(first_page[0][0]))]
    while page := await rows.scan(table, key_of(last_sequence)):
        await rows.delete(table, [key for key, _ in page])


@asynccontextmanager
async def archiving(archive: LogArchive, writes: WriteStatus) -> AsyncGenerator[None]:
    """Extend the archive every few seconds inside the context, while the log is not refused."""

    async def extend_again() -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            if writes.refusal:
                continue
            try:
                await archive.extend(subjects.ALL)
            except (ServiceError, NatsError, OSError) as error:
                logger.warning(
                    "could not extend the archive", error=f"{type(error).__name__}: {error}"
                )
            except Exception:
                logger.exception("could not extend the archive")

    async with in_background(extend_again()):
        yield
