"""Verifies backups: every file has its hash, every event its place, every text that an event names
is there.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.partitions import partition_at
from operations.backup import manifest as manifests
from operations.backup.manifest import Manifest, Part
from operations.backup.parts import read_part
from operations.backup.taking import blob_path
from runtime.bus.chain import erased_by
from runtime.bus.records import Record
from runtime.errors import InvalidInput

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class VerifiedBackup:
    """Backups that follow each other. `problems`: what is wrong with them; `erased_sequences`:
    events that must not come back.
    """

    folders: Sequence[Path]
    manifests: Sequence[Manifest]
    problems: Sequence[str]
    erased_sequences: frozenset[int]

    @property
    def last(self) -> Manifest:
        """Return the manifest of the last one: the state of the bus is from it."""
        return self.manifests[-1]

    @property
    def parts(self) -> list[tuple[Path, Part]]:
        """Return all files of events with their folders, in order."""
        pairs = zip(self.folders, self.manifests, strict=True)
        return [(folder, part) for folder, manifest in pairs for part in manifest.events]

    @property
    def messages(self) -> int:
        """Return how many events they hold."""
        return sum(manifest.messages for manifest in self.manifests)


def verify(folders: Sequence[Path], report: Report) -> VerifiedBackup:
    """Read everything in backups that follow each other. Raises InvalidInput where one has no
    readable manifest.
    """
    read: list[Manifest] = []
    problems: list[str] = []
    erased_sequences: set[int] = set()
    for folder in folders:
        manifest = manifests.read(folder)
        if manifest is None:
            raise InvalidInput(f"{folder} holds no backup: it has no {manifests.MANIFEST}")
        before = read[-1].last if read else 0
        if manifest.since != before:
            problems.append(
                f"{folder} begins behind sequence {manifest.since}, and what is before it "
                f"ends at {before}"
            )
        if not manifest.complete:
            problems.append(
                f"{folder} is not complete: `lightstream backup {folder}` goes on with it"
            )
        problems += [
            f"{folder}: the text {sha256} was missing on the bus"
            for sha256 in manifest.missing_blobs
        ]
        problems += [
            f"{folder}: the log could not read sequence {sequence}"
            for sequence in manifest.unreadable
        ]
        read.append(manifest)
        position = Manifest.of_partitions(manifest.partitions, manifest.since).position
        for part in [*manifest.events, manifest.dead, manifest.parked]:
            if part is None:
                continue
            is_log = part in manifest.events
            after = position.sequences[partition_at(part.last)] if is_log else 0
            records, why = _read(folder, part, after)
            problems += why
            if is_log:
                position = position.behind([part.last])
                erased_sequences.update(erasure.sequence for erasure in erased_by(records))
                report(position.progress_to(manifest.position))
        problems += _damaged_blobs(folder, manifest)
    return VerifiedBackup(tuple(folders), tuple(read), tuple(problems), frozenset(erased_sequences))


def _read(folder: Path, part: Part, after: int) -> tuple[list[Record], list[str]]:
    try:
        records = read_part(folder, part)
    except (InvalidInput, ValueError) as error:
        return [], [str(error)]
    for record in records:
        if record.sequence <= after:
            return records, [
                f"{folder / part.file}: sequence {record.sequence} stands behind {after}"
            ]
        after = record.sequence
    return records, []


def _damaged_blobs(folder: Path, manifest: Manifest) -> list[str]:
    problems: list[str] = []
    for blob in manifest.blobs.values():
        path = blob_path(folder, blob.sha256)
        try:
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            if blob.sha256 not in manifest.missing_blobs:
                problems.append(f"{path} cannot be read: {error}")
        else:
            if sha256 != blob.sha256:
                problems.append(f"{path} is damaged: it does not have the hash of its name")
    return problems
