"""The manifest of a backup: what its files are, and the hash of each.

manifest.json                      what this module describes events/00000001-<hash>.jsonl.gz
messages of the log, one a line, in order; a part is never longer than a few MB blobs/ab/abcdef…
texts too long for an event, under their SHA-256 dead-<hash>.jsonl.gz               dead letters
parked-<hash>.jsonl.gz             records of parked events
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from contracts.ids import sha256
from contracts.partitions import LogPosition
from runtime.errors import InvalidInput

FORMAT = 1
PARTITIONED_FORMAT = 2
"""Of a log of several partitions, which older programs would take for one stream."""

PLACED_FORMAT = 3
"""Of a log of which workspaces were moved, which older programs would look for elsewhere."""

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Blob:
    """A long text that an event names. `parts`: messages that it takes on the bus; `place`: where,
    if not its hash.
    """

    sha256: str
    size: int
    parts: int
    place: str | None = None

    @property
    def key(self) -> str:
        """Return the key of its place on the bus; two places may hold the same text."""
        return self.place or self.sha256


@dataclass(frozen=True)
class Part:
    """One file of lines. `sha256` is that of the lines, before compression; `blobs`: what its
    events name.
    """

    file: str
    first: int
    last: int
    messages: int
    sha256: str
    blobs: tuple[Blob, ...] = ()


@dataclass
class Manifest:
    """A backup of the log from behind `since` up to the sequence `last`.

    `complete` is False while it is being taken. `floors`: up to where each consumer had handled the
    log. `values`: the buckets' values by bucket and key, as text. `digests`: by workspace and
    projection, where all were up to date; `undigested` says why they are missing. `erased`:
    sequences whose events were removed from it because they were erased. `missing_blobs`: hashes of
    texts that the bus no longer had. `unreadable`: sequences whose messages the server has and
    cannot read.

    Where the log has several partitions `ends` are the sequences up to which each is in it, `last`
    is how many sequences stand up to there, and `floors` have the places of the consumers of each
    partition. Each part is of one partition. `placements`: of workspaces that were moved, as text.
    """

    since: int = 0
    last: int = 0
    taken_at: str = ""
    complete: bool = False
    events: list[Part] = field(default_factory=list[Part])
    dead: Part | None = None
    parked: Part | None = None
    floors: dict[str, int] = field(default_factory=dict[str, int])
    values: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    digests: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    undigested: str = ""
    erased: int = 0
    missing_blobs: list[str] = field(default_factory=list[str])
    unreadable: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    placements: str = ""

    @classmethod
    def of_partitions(cls, count: int, since: int = 0) -> "Manifest":
        """Return the manifest of a backup that holds nothing yet of a log of so many partitions."""
        ends = list(LogPosition.start(count).sequences) if count > 1 else []
        return cls(since=since, last=since, ends=ends)

    @property
    def position(self) -> LogPosition:
        """Return up to where the log is in it."""
        return LogPosition(tuple(self.ends or [self.last]))

    @property
    def partitions(self) -> int:
        """Return how many partitions its log has."""
        return len(self.position.sequences)

    def advance(self, sequence: int) -> None:
        """Note that it holds everything up to this sequence of a partition."""
        position = self.position.behind([sequence])
        self.last = position.event_count
        self.ends = list(position.sequences) if self.ends else []

    @property
    def messages(self) -> int:
        """Return how many events it holds."""
        return sum(part.messages for part in self.events)

    @property
    def blobs(self) -> dict[str, Blob]:
        """Return the long texts that its events name, by the keys of their places."""
        return {blob.key: blob for part in self.events for blob in part.blobs}


def read(folder: Path) -> Manifest | None:
    """Return the manifest of a backup; None where there is none. Raises InvalidInput for a damaged
    one.
    """
    try:
        text = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return None
    try:
        manifest: dict[str, Any] = json.loads(text)
        claimed_digest, form = manifest.pop("sha256"), manifest.pop("format")
        if form not in (FORMAT, PARTITIONED_FORMAT, PLACED_FORMAT):
            raise InvalidInput(
                f"{folder / MANIFEST} has format {form}, and this program reads formats {FORMAT} "
                f"to {PLACED_FORMAT}"
            )
        if claimed_digest != sha256(_canonical(manifest)):
            raise ValueError("its content does not have the hash it names")
        return TypeAdapter(Manifest).validate_python(manifest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{folder / MANIFEST} is damaged: {error}") from None


def write(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest; it is on disk when this returns."""
    fields = asdict(manifest)
    form = PARTITIONED_FORMAT if manifest.ends else FORMAT
    if manifest.placements:
        form = PLACED_FORMAT
    else:
        del fields["placements"]
    document = {"format": form, **fields, "sha256": sha256(_canonical(fields))}
    put_file(folder / MANIFEST, json.dumps(document, indent=1).encode())


def put_file(path: Path, data: bytes) -> None:
    """Write a file as a whole, for its owner alone; it is on disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(path.name + ".new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _canonical(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))
