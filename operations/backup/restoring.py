"""Restores backups into an empty bus: every event at its sequence, with its headers and the time it
was first taken.

Killed anywhere, it can be started again: it goes on when what the bus holds is the beginning of the
backup.
"""

from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import StreamConfig
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.partitions import first_sequence, number_at, partition_at, partition_in
from contracts.topology import CONSUMERS
from operations.backup.bus_state import restore_bus_state
from operations.backup.parts import read_part
from operations.backup.placements import restore_placements
from operations.backup.taking import blob_path
from operations.backup.verifying import VerifiedBackup
from runtime.bus import topology
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import translated
from runtime.bus.nats.copies import SequencedWriter, create_empty, read_records
from runtime.bus.nats.log_streams import LogStreams, forget_streams, log_streams
from runtime.bus.partitioning import partitions_to_apply
from runtime.bus.records import Record, leaf
from runtime.errors import InvalidInput

Report = Callable[[dict[str, Any]], None]


@dataclass
class Restore:
    """One restore under way."""

    jetstream: JetStreamContext
    backup: VerifiedBackup
    report: Report
    replicas: int = 1
    shares_subjects: bool = True
    """Whether documents of the restored log share subjects, as those of a new one do."""

    @property
    def streams(self) -> LogStreams:
        """Return the streams of the log that is restored."""
        return LogStreams(self.backup.last.partitions, self.shares_subjects)

    async def run(self) -> int:
        """Restore the bus, prove that it holds the backup event by event, and return how many
        events that are.

        Raises InvalidInput when the bus holds something else or services run on it,
        ConfigurationError when its log has, or its server is for, another number of partitions, and
        `Unavailable` without the bus.
        """
        partitions = self.streams.count
        with translated():
            await partitions_to_apply(self.jetstream, partitions)
        await self.refuse_services()
        shared_from = self.streams.start().text if self.shares_subjects else ""
        for config in topology.log_configs(self.replicas, partitions, shared_from=shared_from):
            await self._restore_stream(config)
        for stream in self.streams.names:
            await self._prove(stream)
        with translated():
            await topology.apply(self.jetstream, self.replicas, partitions)
            await restore_placements(self.jetstream, self.backup.last.placements)
        await self._restore_blobs()
        await restore_bus_state(self.jetstream, self.backup.folders[-1], self.backup.last)
        return self.backup.messages

    async def refuse_services(self) -> None:
        """Raises InvalidInput while a service waits for events."""
        durables = chain.from_iterable(
            consumer.in_partitions(self.streams.count) for consumer in CONSUMERS
        )
        for consumer in durables:
            try:
                with translated():
                    info = await self.jetstream.consumer_info(consumer.stream, consumer.name)
            except NotFoundError:
                continue
            if info.num_waiting:
                raise InvalidInput(
                    f"a service waits for events of {consumer.name}: stop the services first"
                )

    async def _restore_stream(self, config: StreamConfig) -> None:
        """Write what a stream of the log lacks of the backup."""
        stream = config.name or ""
        end = await self._open_stream(config)
        remaining_records = self._records(stream)
        await self._skip_restored(stream, remaining_records)
        position = self.backup.last.position
        last_sequence = position.sequences[partition_in(stream)]
        # One that an older program began to restore goes on as that one made it.
        forget_streams(self.jetstream)
        streams = await log_streams(self.jetstream)
        writer = SequencedWriter(self.jetstream, stream, end, streams)
        async with aclosing(writer.write(remaining_records, last_sequence)) as steps:
            async for sequence in steps:
                self.report(position.up_to(sequence).progress_to(position))

    async def _open_stream(self, config: StreamConfig) -> int:
        """Return the last sequence of a stream of the log; make it anew if it never had an
        event.
        """
        stream = config.name or ""
        partition = partition_in(stream)
        last_sequence = self.backup.last.position.sequences[partition]
        first = next(self._records(stream), None)
        begin = first.sequence if first else last_sequence + 1
        if partition:  # it begins where every log of several partitions does
            begin = first_sequence(partition)
        try:
            with translated():
                state = (await self.jetstream.stream_info(stream)).state
        except NotFoundError:
            pass
        else:
            if number_at(state.last_seq):
                return state.last_seq
            with translated():
                await self.jetstream.delete_stream(stream)
        await create_empty(self.jetstream, config, begin)
        return begin - 1

    def _records(self, stream: str) -> Iterator[Record]:
        for folder, part in self.backup.parts:
            if partition_at(part.last) != partition_in(stream):
                continue
            for record in read_part(folder, part):
                if record.sequence not in self.backup.erased_sequences:
                    yield record

    async def _skip_restored(self, stream: str, expected_records: Iterator[Record]) -> None:
        """Take what a stream holds from the records. Raises InvalidInput where it holds anything
        else.
        """
        async with aclosing(read_records(self.jetstream, stream)) as pages:
            async for page in pages:
                for record in page:
                    if record.subject == subjects.GAP:
                        continue
                    expected_record = next(expected_records, None)
                    if expected_record is None or leaf(expected_record) != leaf(record):
                        raise InvalidInput(
                            "the log is not empty: it holds another event at sequence "
                            f"{record.sequence} than the backup; restore into an empty stack"
                        )

    async def _prove(self, stream: str) -> None:
        remaining_records = self._records(stream)
        await self._skip_restored(stream, remaining_records)
        if (lost_record := next(remaining_records, None)) is not None:
            raise InvalidInput(
                f"the restored log lacks sequence {lost_record.sequence}: start again"
            )

    async def _restore_blobs(self) -> None:
        blobs = NatsBlobs(self.jetstream)
        total = sum(len(manifest.blobs) for manifest in self.backup.manifests)
        blob_count = 0
        for folder, manifest in zip(self.backup.folders, self.backup.manifests, strict=True):
            for blob in manifest.blobs.values():
                path = blob_path(folder, blob.sha256)
                if path.exists():
                    await blobs.put_back(blob.key, path.read_bytes())
                blob_count += 1
                self.report({"texts": blob_count, "of": total})
