"""Digests of a workspace as it was: the log up to a place, rebuilt into stores in memory."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from contracts.graph import PROJECTIONS
from contracts.partitions import LogPosition
from offline.embeddings.lexical import LexicalEmbedder
from operations.command_bus import connect_bus
from operations.digest import Stores
from operations.rebuild import Rebuild
from operations.target import Target
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.bus.nats.log import NatsLog
from runtime.bus.points import sequence_at
from runtime.bus.port import Log, Message
from runtime.errors import InvalidInput
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings

MAX_BYTES = 128 * 1024 * 1024
"""Bytes of events that are folded in memory; they take five to ten times as much."""


class BoundedLog(NatsLog):
    """The log, of which only so much is read."""

    async def read_behind(
        self,
        position: LogPosition,
        subjects: Sequence[str] = (),
        *,
        page: int = 500,
        until: LogPosition | None = None,
    ) -> AsyncGenerator[list[Message]]:
        bytes_left = MAX_BYTES
        reading = super().read_behind(position, subjects, page=page, until=until)
        async with aclosing(reading) as pages:
            async for messages in pages:
                bytes_left -= sum(len(message.data) for message in messages)
                if bytes_left < 0:
                    raise InvalidInput(
                        f"the workspace has more than {MAX_BYTES >> 20} MiB of events by then, "
                        "too much for memory: `lightstream rebuild check --to-seq` makes the "
                        "digests in the stores"
                    )
                yield messages


async def digests_as_of(target: Target, workspace: str, point: str) -> dict[str, Any]:
    """Return what `digests` returns, of the workspace at a point, with its `sequence`. Raises
    InvalidInput.
    """
    async with connect_bus(target.settings.nats_url) as bus:
        log = BoundedLog(bus)
        sequence = await sequence_at(log, workspace, point)
        return {
            "sequence": sequence,
            **await fold_digests(log, workspace, sequence, target.settings_of(MergerSettings)),
        }


async def fold_digests(
    log: Log, workspace: str, sequence: int, settings: MergerSettings
) -> dict[str, Any]:
    """Return digests and counts of the workspace up to a sequence of the log; 0 stands for nothing
    at all.
    """
    # Digests are about texts: which numbers stand for them does not matter, and none is paid for.
    embedder = LexicalEmbedder(2)
    stores = Stores(MemoryRows(), MemoryGraph(), MemoryVectors(embedder.model, embedder.dimension))
    events = log if sequence else MemoryLog()
    work = Rebuild(
        events,
        MemoryLiveGenerations(),
        stores,
        embedder,
        PROJECTIONS,
        lambda _: None,
        settings,
        until=(await events.end()).up_to(sequence),
        workspaces=[workspace],
    )
    of_each = {
        name: digest["rebuilt"] for name, digest in (await work.fill(workspace))["digests"].items()
    }
    counts = {name: digest_of_kind["counts"] for name, digest_of_kind in of_each.items()}
    return {
        **{name: digest_of_kind["sha256"] for name, digest_of_kind in of_each.items()},
        "counts": counts,
    }
