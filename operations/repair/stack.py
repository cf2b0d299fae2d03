"""The repair of a whole stack, from its settings: what the command line calls."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedded import daemon
from embedded.data_folder import DataFolder
from embedded.environment import settings_from
from operations.backup.stack import bus_of_folder, make_projections
from operations.backup.verifying import VerifiedBackup, verify
from operations.command_bus import connect_bus
from operations.query_service import named_by_environment
from operations.repair.log import plan_repair, replace_log, write_repaired
from operations.repair.sources import ArchiveSource, BackupSource
from operations.target import select_target, target_of_environment
from runtime.errors import InvalidInput
from runtime.settings import Settings
from runtime.stores.open import open_documents

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Repaired:
    """What a repair has done, or would do: sequences that came back, those that had another event,
    the copy.
    """

    stack: str
    lost: list[int]
    changed: list[int]
    copy: str = ""
    events: int = 0


@dataclass(frozen=True)
class RepairRequest:
    """A repair as an operator asks for it. `backups`: none for the archive; `yes`: do it, and do
    not only plan.
    """

    backups: Sequence[Path]
    copy: Path
    yes: bool
    replicas: int = 1
    reason: str = ""


def repair(
    data: Path | None, request: RepairRequest, report: Report, say: Callable[[str], None]
) -> Repaired:
    """Repair the log of a stack that does not run, or of a deployment whose services do not, then
    its projections.

    Raises InvalidInput while they run, for a damaged backup, and for a copy's folder that is not
    empty.
    """
    backup = verify(request.backups, report) if request.backups else None
    if backup and backup.problems:
        raise InvalidInput(
            f"the backup is not used: {backup.problems[0]}; `lightstream verify` lists all"
        )
    work = Work(backup, request, report, say)
    folder = None if named_by_environment(data) else DataFolder.at(data)
    if folder is None:
        target = target_of_environment()
        outcome = asyncio.run(work.run(target.name, target.settings))
    elif folder.is_running():
        raise InvalidInput(
            f"a stack is running in {folder.path}: `lightstream down{folder.command_option}` first"
        )
    else:
        outcome = asyncio.run(work.run_folder(folder))
    if outcome.events:
        if folder is not None:
            say("the log is repaired; starting the stack")
            daemon.start(folder, say)
        target = select_target(data)
        with target.rebuild_lock():
            say("making status, graph and vectors from the log")
            asyncio.run(make_projections(target, report, request.reason))
    return outcome


@dataclass(frozen=True)
class Work:
    """One repair under way."""

    backup: VerifiedBackup | None
    request: RepairRequest
    report: Report
    say: Callable[[str], None]

    async def run_folder(self, folder: DataFolder) -> Repaired:
        """Repair the log of a data folder, with its bus alone."""
        (folder.path / "documents").mkdir(parents=True, exist_ok=True)
        stores = folder.read().stores or {
            "documents_url": f"sqlite://{folder.path / 'documents' / 'documents.db'}"
        }
        async with bus_of_folder(folder) as url:
            return await self.run(
                f"the stack in {folder.path}", settings_from(Settings, {**stores, "nats_url": url})
            )

    async def run(self, name: str, settings: Settings) -> Repaired:
        """Plan, and with `yes` repair, the log of these settings."""
        rows = open_documents(settings)
        try:
            await rows.prepare()
            async with connect_bus(settings.nats_url) as jetstream:
                source = BackupSource(self.backup) if self.backup else ArchiveSource(rows)
                plan = await plan_repair(jetstream, source)
                if not self.request.yes or not plan.restored:
                    return Repaired(name, plan.lost_sequences, plan.changed_sequences)
                copy = self.request.copy
                await write_repaired(jetstream, source, plan, copy, self.report)
                self.say(
                    f"the repaired log is in {copy}; `lightstream restore {copy}` goes on if "
                    "this is interrupted"
                )
                events = await replace_log(
                    jetstream, rows, copy, self.report, self.request.replicas
                )
                return Repaired(
                    name, plan.lost_sequences, plan.changed_sequences, str(copy), events
                )
        finally:
            await rows.close()
