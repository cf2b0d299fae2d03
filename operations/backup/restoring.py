"""Restores backups into an empty bus: every event at its sequence, with its headers and the time it
was first taken.

Killed anywhere, it can be started again: it goes on when what the bus holds is the beginning of the
backup.
"""

from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts.topology import CONSUMERS, declared_stream
from operations.backup.bus_state import restore_bus_state
from operations.backup.parts import read_part
from operations.backup.taking import blob_path
from operations.backup.verifying import VerifiedBackup
from runtime.bus import topology
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import translated
from runtime.bus.nats.copies import GAP, SequencedWriter, create_empty, read_records
from runtime.bus.nats.log_streams import sole_stream
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
    stream: str = field(init=False)
    """The stream that is restored."""

    async def run(self) -> int:
        """Restore the bus, prove that it holds the backup event by event, and return how many
        events that are.

        Raises InvalidInput when the bus holds something else or services run on it, `Unavailable`
        without the bus.
        """
        self.stream = await sole_stream(self.jetstream, "a restore")
        await self.refuse_services()
        end = await self._open_log()
        remaining_records = self._records()
        await self._skip_restored(remaining_records)
        writer = SequencedWriter(self.jetstream, self.stream, end)
        async with aclosing(writer.write(remaining_records, self.backup.last.last)) as steps:
            async for position in steps:
                self.report({"position": position, "end": self.backup.last.last})
        await self._prove()
        with translated():
            await topology.apply(self.jetstream, self.replicas)
        await self._restore_blobs()
        await restore_bus_state(self.jetstream, self.backup.folders[-1], self.backup.last)
        return self.backup.messages

    async def refuse_services(self) -> None:
        """Raises InvalidInput while a service waits for events."""
        stream = await sole_stream(self.jetstream, "a restore")
        for consumer in CONSUMERS:
            try:
                with translated():
                    info = await self.jetstream.consumer_info(stream, consumer.name)
            except NotFoundError:
                continue
            if info.num_waiting:
                raise InvalidInput(
                    f"a service waits for events of {consumer.name}: stop the services first"
                )

    async def _open_log(self) -> int:
        """Return the last sequence of the log; make it anew if it never had an event."""
        first = next(self._records(), None)
        begin = first.sequence if first else self.backup.last.last + 1
        try:
            with translated():
                state = (await self.jetstream.stream_info(self.stream)).state
        except NotFoundError:
            pass
        else:
            if state.last_seq:
                return state.last_seq
            with translated():
                await self.jetstream.delete_stream(self.stream)
        await create_empty(self.jetstream, declared_stream(self.stream), begin, self.replicas)
        return begin - 1

    def _records(self) -> Iterator[Record]:
        for folder, part in self.backup.parts:
            for record in read_part(folder, part):
                if record.sequence not in self.backup.erased_sequences:
                    yield record

    async def _skip_restored(self, expected_records: Iterator[Record]) -> None:
        """Take what the log holds from the records. Raises InvalidInput where it holds anything
        else.
        """
        async with aclosing(read_records(self.jetstream, self.stream)) as pages:
            async for page in pages:
                for record in page:
                    if record.subject == GAP:
                        continue
                    expected_record = next(expected_records, None)
                    if expected_record is None or leaf(expected_record) != leaf(record):
                        raise InvalidInput(
                            "the log is not empty: it holds another event at sequence "
                            f"{record.sequence} than the backup; restore into an empty stack"
                        )

    async def _prove(self) -> None:
        remaining_records = self._records()
        await self._skip_restored(remaining_records)
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
