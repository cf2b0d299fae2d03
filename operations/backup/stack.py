"""Backup and restore of a whole stack, from its settings: what the command line calls."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.graph import PROJECTIONS
from contracts.partitions import partition_at
from embedded import daemon
from embedded.data_folder import DataFolder, end_orphans, new_password
from embedded.partitions import set_partitions
from embedded.permissions import private_files
from embedded.processes import free_port
from embedded.servers import nats
from operations import checkpoints, projections
from operations.backup import manifest as manifests
from operations.backup.manifest import Manifest
from operations.backup.restoring import Restore
from operations.backup.taking import Backup
from operations.backup.verifying import VerifiedBackup
from operations.digest import digest
from operations.open_stack import open_as_is, open_prepared
from operations.projections import RebuildRequest
from operations.query_service import named_by_environment
from operations.target import Target, select_target, target_of_environment
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput, ServiceError
from runtime.settings import Settings

Report = Callable[[dict[str, Any]], None]


async def back_up(
    settings: Settings, folder: Path, since: int | None, report: Report, *, digests: bool
) -> tuple[Manifest, int]:
    """Take a backup, and return its manifest and how many events are new in it. Raises what
    `Backup.run` raises.
    """
    async with connected(settings.nats_url, name="lightstream-cli") as client:
        backup = Backup(client.jetstream(), folder, report)
        manifest = await backup.run(since)
    manifest.digests, manifest.undigested = {}, "nobody asked for them"
    if digests:
        try:
            await _add_digests(settings, manifest)
        except ServiceError as error:
            manifest.undigested = str(error)
    manifests.write(folder, manifest)
    return manifest, backup.new_count


async def _add_digests(settings: Settings, manifest: Manifest) -> None:
    """Add the digests of all workspaces, where the projections hold exactly what the backup
    holds.
    """
    if manifest.parked and manifest.parked.messages:
        manifest.undigested = f"{manifest.parked.messages} events are parked"
    elif behind := [
        name
        for name, floor in manifest.floors.items()
        if floor < manifest.position.sequences[partition_at(floor)]
    ]:
        manifest.undigested = f"events were under way: {', '.join(behind)}"
    else:
        async with open_as_is(settings) as stack:
            log = NatsLog(stack.client.jetstream())
            live = await (await NatsLiveGenerations.bind(stack.client.jetstream())).live()
            partitions = await stack.stores.rows.partitions("documents")
            digests: dict[str, dict[str, str]] = {}
            for workspace in sorted(
                partition.workspace
                for partition in partitions
                if partition.generation == live.status
            ):
                generation = live.of_workspace(workspace).vectors
                async with stack.stores_of_generation(generation) as stores:
                    digests[workspace] = {
                        name: (await digest(name, workspace, live, stores)).sha256
                        for name in PROJECTIONS
                    }
            if await log.end() == manifest.position:
                manifest.digests, manifest.undigested = digests, ""
            else:
                manifest.undigested = "the log went on meanwhile"


@dataclass(frozen=True)
class RestoredStack:
    """What a restore has done. `digests`: by workspace and projection, whether it is the one noted
    in the backup.
    """

    stack: str
    events: int
    texts: int
    last: int
    digests: dict[str, dict[str, bool]]
    undigested: str


def restore(
    data: Path | None,
    backup: VerifiedBackup,
    report: Report,
    say: Callable[[str], None],
    *,
    replicas: int,
    reason: str = "",
) -> RestoredStack:
    """Restore a backup into the empty stack of a data folder, or a deployment, and make its
    projections from it.

    Raises InvalidInput when the stack runs or is not empty, ConfigurationError when a server does
    not start.
    """
    if named_by_environment(data):
        target = target_of_environment()
        events = asyncio.run(_restore_bus(target.settings.nats_url, backup, report, replicas))
    else:
        folder = DataFolder.at(data)
        if folder.is_running():
            raise InvalidInput(
                f"a stack is running in {folder.path}: `lightstream "
                f"down{folder.command_option}` first"
            )
        events = asyncio.run(_restore_folder(folder, backup, report))
        say("the log is restored; starting the stack")
        daemon.start(folder, say)
        target = select_target(data)
    with target.rebuild_lock():
        say("making status, graph and vectors from the log")
        rebuilt = asyncio.run(_rebuild(target, backup.last, report, reason))
    texts = sum(len(manifest.blobs) for manifest in backup.manifests)
    return RestoredStack(
        target.name, events, texts, backup.last.last, rebuilt, backup.last.undigested
    )


async def _restore_bus(url: str, backup: VerifiedBackup, report: Report, replicas: int) -> int:
    async with connected(url, name="lightstream-cli") as client:
        return await Restore(client.jetstream(), backup, report, replicas).run()


async def _restore_folder(folder: DataFolder, backup: VerifiedBackup, report: Report) -> int:
    set_partitions(folder, backup.last.partitions)
    async with bus_of_folder(folder) as url:
        return await _restore_bus(url, backup, report, 1)


@asynccontextmanager
async def bus_of_folder(folder: DataFolder) -> AsyncGenerator[str]:
    """Run the bus of a data folder alone, and give its address. Raises `Busy` while its stack
    runs.
    """
    with private_files(), folder.lock():
        end_orphans(folder, folder.read())
        port = free_port()
        password = new_password()
        options = nats.BusOptions(partitions=folder.read().partitions)
        bus = nats.nats_server(folder.path / "bus", port=port, password=password, options=options)
        await bus.start()
        try:
            yield nats.url(port, password)
        finally:
            await bus.stop()


async def make_projections(target: Target, report: Report, reason: str) -> None:
    """Make all projections from a log that was put in order, and have services take it for
    theirs.
    """
    await projections.rebuild(target, RebuildRequest(PROJECTIONS, reason=reason), report)
    async with open_prepared(target.settings) as stack:
        # Stores that are older than the restore name another log.
        jetstream = stack.client.jetstream()
        rows = stack.stores.rows
        with suppress(InvalidInput):
            await checkpoints.require_loss(jetstream, rows)
            await checkpoints.accept_loss(jetstream, rows)


async def _rebuild(
    target: Target, manifest: Manifest, report: Report, reason: str
) -> dict[str, dict[str, bool]]:
    """Make all projections, and compare their digests with those that the backup noted."""
    await make_projections(target, report, reason)
    matches: dict[str, dict[str, bool]] = {}
    for workspace, noted_digests in manifest.digests.items():
        now = await projections.digests(target.settings, workspace)
        matches[workspace] = {name: now[name] == sha256 for name, sha256 in noted_digests.items()}
    return matches
