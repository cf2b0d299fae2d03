"""A file that came in over HTTP: read in the sandbox of the parsers and published as a document."""

import asyncio
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple

from contracts.ids import canonical_name, document_id
from runtime.bus.publisher import Added, content_hash, current_content_hash
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import InvalidInput
from runtime.parsing.encodings import Hint, checked_encoding
from runtime.parsing.files import MAX_FILE_BYTES, parse
from runtime.parsing.kinds import refuse_kind
from runtime.parsing.names import checked, shown
from services.query.errors import BadRequest, Conflict, TooLarge
from services.query.ingestion.adding import Shelf, Text, Track, add_one

AT_ONCE, OF_ONE_WORKSPACE = 3, 2
"""Files that are read at the same time, of all and of one workspace: each may take a core, 1 GiB and two minutes, so
one place is left for whoever does not flood the others.
"""


@dataclass(frozen=True)
class Received:
    """A file as it came in. `name` is what the client called it: shown and stored, never used as a path."""

    name: str
    content: BinaryIO
    sha256: str
    encoding: str = ""
    """What the client says its text is in: the field `encoding` of the form."""
    charset: str = ""
    """What the Content-Type of the file says."""


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
    turns: FairSemaphore = field(default_factory=lambda: FairSemaphore(AT_ONCE, OF_ONE_WORKSPACE))

    @property
    def most_bytes(self) -> int:
        """Bytes that a file may have: no parser takes more than MAX_FILE_BYTES, whatever the setting says."""
        return min(self.setting, MAX_FILE_BYTES)

    def refuse_larger(self, size: int) -> None:
        """Raise `TooLarge` for more bytes than a file may have."""
        if size > self.most_bytes:
            of = "MAX_UPLOAD_SIZE" if self.setting <= MAX_FILE_BYTES else "the most that is read, whatever the settings"
            raise TooLarge(f"the file has more than {self.most_bytes:,} bytes ({of}): split it")


class Uploaded(NamedTuple):
    """A document that came as a file, the track to follow it by, and what may be wrong with its text."""

    added: Added
    track: Track
    warning: str


async def upload(shelf: Shelf, file: Received, wishes: Wishes, readers: Readers) -> Uploaded:
    """Read the file and publish its text under its base name.

    The same text under the same name is not added again, and what stands there comes back. Raises
    `NotTaken` for a name, a kind or an encoding that is not taken, InvalidInput for a file that has no text or cannot
    be read, `Conflicts` when there is another text of that name, `Unavailable` when the log does not take it.
    """
    name, hint = plain_name(file.name), Hint(_known_encoding(file.encoding), file.charset)
    async with readers.turns.hold(shelf.workspace):
        parsed = await parse(await asyncio.to_thread(file.content.read), name, hint)
    track = Track.of("upload", wishes.key, f"{file.sha256}/{name}")
    text = Text(parsed.text, name, metadata=parsed.metadata, pages=parsed.pages)
    if not wishes.replace:
        await _refuse_other(shelf, name, text)
    return Uploaded(await add_one(shelf, track, text), track, parsed.warning)


def plain_name(name: str) -> str:
    """The base name of a file that may be one that is read. Raises `NotTaken`."""
    try:
        base = canonical_name(checked(name))
    except InvalidInput as error:
        raise BadRequest(str(error)) from None
    try:
        refuse_kind(PurePosixPath(base).suffix)
    except InvalidInput as error:
        raise BadRequest(f"{shown(base)}: {error}") from None
    return base


def _known_encoding(name: str) -> str:
    try:
        return checked_encoding(name) if name else ""
    except InvalidInput as error:
        raise BadRequest(f"encoding: {error}") from None


async def _refuse_other(shelf: Shelf, name: str, text: Text) -> None:
    standing = await current_content_hash(shelf.log, workspace=shelf.workspace, id=document_id("", name))
    if standing not in {None, content_hash(text.text)}:
        raise Conflict(
            f"there is another document of the name {name}: give replace=true to make this its new version, "
            "or give the file another name"
        )
