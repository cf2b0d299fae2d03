"""A file that came in over HTTP: read in the sandbox of the parsers and published as a document."""

import asyncio
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO

from contracts.ids import canonical_name, document_id
from runtime.bus.publisher import Added, content_hash, standing_content
from runtime.errors import InvalidInput
from runtime.parsing.files import MAX_FILE_BYTES, parse
from runtime.parsing.kinds import SUFFIXES, way_out
from runtime.parsing.names import checked, shown
from services.query.adding import Shelf, Text, Track, add_one
from services.query.refusals import Conflicts, NotTaken, TooLarge

AT_ONCE = 2
"""Files that are read at the same time: each may take a core and 1 GiB."""


@dataclass(frozen=True)
class Received:
    """A file as it came in. `name` is what the client called it: shown and stored, never used as a path."""

    name: str
    content: BinaryIO
    sha256: str


@dataclass(frozen=True)
class Wishes:
    """What a client asks for beside the file."""

    key: str | None = None
    """Requests with this key and the same content are one."""
    replace: bool = False
    """Whether another text under a name that is there becomes a new version of that document."""


@dataclass(frozen=True)
class Readers:
    """How much is read at once, and of one file."""

    setting: int
    """MAX_UPLOAD_SIZE."""
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    @property
    def most_bytes(self) -> int:
        """Bytes that a file may have: no parser takes more than MAX_FILE_BYTES, whatever the setting says."""
        return min(self.setting, MAX_FILE_BYTES)

    def refuse_larger(self, size: int) -> None:
        """Raise `TooLarge` for more bytes than a file may have."""
        if size > self.most_bytes:
            of = "MAX_UPLOAD_SIZE" if self.setting <= MAX_FILE_BYTES else "the most that is read, whatever the settings"
            raise TooLarge(f"the file has more than {self.most_bytes:,} bytes ({of}): split it")


async def upload(shelf: Shelf, file: Received, wishes: Wishes, readers: Readers) -> tuple[Added, Track]:
    """Read the file and publish its text under its base name; the track to follow it by comes with it.

    The same text under the same name is not added again, and what stands there comes back. Raises
    `NotTaken` for a name or a kind that is not taken, InvalidInput for a file without a text or that cannot be read,
    `Conflicts` when there is another text of that name, `Unavailable` when the log does not take it.
    """
    name = plain_name(file.name)
    async with readers.slots:
        parsed = await parse(await asyncio.to_thread(file.content.read), name)
    track = Track.of("upload", wishes.key, f"{file.sha256}/{name}")
    text = Text(parsed.text, name, metadata=parsed.metadata, pages=parsed.pages)
    if not wishes.replace:
        await _refuse_other(shelf, name, text)
    return await add_one(shelf, track, text), track


def plain_name(name: str) -> str:
    """The base name of a file of a kind that is read. Raises `NotTaken`."""
    try:
        base = canonical_name(checked(name))
    except InvalidInput as error:
        raise NotTaken(str(error)) from None
    suffix = PurePosixPath(base).suffix.lower()
    if suffix and suffix not in SUFFIXES:
        ways = f"{way_out(suffix)}; known: {' '.join(SUFFIXES)}"
        raise NotTaken(f"{shown(base)}: files of kind {suffix} are not read: {ways}")
    return base


async def _refuse_other(shelf: Shelf, name: str, text: Text) -> None:
    standing = await standing_content(shelf.log, workspace=shelf.workspace, id=document_id("", name))
    if standing not in {None, content_hash(text.text)}:
        raise Conflicts(
            f"there is another document of the name {name}: give replace=true to make this its new version, "
            "or give the file another name"
        )
