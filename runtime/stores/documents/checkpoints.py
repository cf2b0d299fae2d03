"""Checkpoints of projections and the mark of the log in the document store."""

from collections.abc import Collection
from dataclasses import asdict, dataclass

from contracts.partitions import LOG, partition_at
from runtime.stores.documents.port import Row, Rows, Table
from runtime.stores.documents.schema import CHECKPOINTS
from runtime.stores.port import Checkpoint, LogMark

LOG_KEY = "log"


@dataclass(frozen=True)
class RowCheckpoints:
    """`CheckpointStore` in the document store, for the part of a projection that lives there."""

    rows: Rows
    projection: str

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `CheckpointStore`."""
        key = self._key(generation)
        row = (await self.rows.get(CHECKPOINTS, [key])).get(key)
        return Checkpoint(row["sequence"], row["log"]) if row else None

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `CheckpointStore`."""
        await self.rows.put_newer(
            CHECKPOINTS, {self._key(generation): asdict(checkpoint)}, "sequence"
        )

    async def drop_checkpoint(self, generation: int) -> None:
        """Forget the checkpoint of that generation. Repeats change nothing."""
        await self.rows.delete(CHECKPOINTS, [self._key(generation)])

    async def drop_others(self, kept_generations: Collection[int | None]) -> None:
        """Forget the checkpoints of all generations but these."""
        prefix = f"{self.projection}."
        keys = {self._key(generation) for generation in kept_generations if generation is not None}
        rows = await self.rows.scan(CHECKPOINTS)
        await self.rows.delete(
            CHECKPOINTS, [key for key, _ in rows if key.startswith(prefix) and key not in keys]
        )

    def _key(self, generation: int) -> str:
        return f"{self.projection}.{generation}"


async def read_mark(rows: Rows, stream: str = LOG) -> LogMark | None:
    """The mark of a stream of the log that the document store keeps."""
    key = _mark_key(stream)
    row: Row | None = (await rows.get(CHECKPOINTS, [key])).get(key)
    return LogMark(**row) if row else None


async def write_mark(rows: Rows, stream: str, log_mark: LogMark) -> None:
    """Keep the mark of a stream outside of the bus, where damage to the bus leaves it alone."""
    await rows.put(CHECKPOINTS, {_mark_key(stream): asdict(log_mark)})


def _mark_key(stream: str) -> str:
    return LOG_KEY + stream.removeprefix(LOG)


async def newest_versions(rows: Rows, generation: int) -> list[int]:
    """The greatest log sequences that documents' statuses in this generation were made from, one
    for each stream of the log that has any.
    """
    versions: dict[int, int] = {}
    for partition in await rows.partitions("documents"):
        if partition.generation == generation:
            pairs = await rows.find(
                Table("documents", partition), {}, order="version", descending=True, limit=1
            )
            for _, row in pairs:
                number = partition_at(row["version"])
                versions[number] = max(versions.get(number, 0), row["version"])
    return list(versions.values())
