"""Reads an uploaded file in the sandbox of the parsers, and publishes its text as a document."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple

from contracts.access import Access
from contracts.ids import canonical_name
from publishing.documents import Added, OtherText
from runtime.concurrency.fair_semaphore import FairSemaphore
from runtime.errors import InvalidInput
from runtime.parsing.encodings import Hint, validated_encoding
from runtime.parsing.files import MAX_FILE_BYTES, parse
from runtime.parsing.kinds import refuse_kind
from runtime.parsing.names import printable_name, validated_text
from runtime.parsing.routing import OWN_PARSERS, ParsingServices
from runtime.parsing.scans import PageTurn
from services.gateway.documents.adding import (
    DocumentPublisher,
    IngestRequest,
    draft_file,
    publish_drafts,
)
from services.query.errors import BadRequest, Conflict, TooLarge

PARALLEL_FILES = 3
PARALLEL_FILES_PER_WORKSPACE = 2
"""Files that are parsed at the same time, in all and per workspace: each may take a core, 1 GiB and
two minutes, and one workspace must not take all slots.
"""

PARALLEL_PAGES = 2
"""Pages that are recognized at the same time, of all uploads that were answered."""


@dataclass(frozen=True)
class UploadedFile:
    """A file as it was received. `name` is the client's: shown and stored, never used as a path."""

    name: str
    content: BinaryIO
    sha256: str
    encoding: str = ""
    """The field `encoding` of the form."""
    charset: str = ""
    """The charset in the Content-Type of the file."""


@dataclass(frozen=True)
class UploadOptions:
    """Options of an upload."""

    key: str | None = None
    """The Idempotency-Key: requests with the same key and content count once."""
    replace: bool = False
    """True makes another text under a known name a new version of that document."""
    folders: bool = False
    """True keeps the folders of the name, and derives the document's id from the whole path."""
    access: Access | None = None
    """Who may see the document; see `Submission`."""


@dataclass(frozen=True)
class ReadLimits:
    """Limits for reading files: their size, and how many are parsed at the same time."""

    max_upload_size: int
    """MAX_UPLOAD_SIZE."""
    services: ParsingServices = OWN_PARSERS
    keeps_originals: bool = False
    """KEEP_ORIGINALS."""
    slots: FairSemaphore = field(
        default_factory=lambda: FairSemaphore(PARALLEL_FILES, PARALLEL_FILES_PER_WORKSPACE)
    )

    page_slots: FairSemaphore = field(default_factory=lambda: FairSemaphore(PARALLEL_PAGES))

    @property
    def max_bytes(self) -> int:
        """Return the size limit of a file in bytes: the setting, at most what the parsers
        accept.
        """
        return min(self.max_upload_size, MAX_FILE_BYTES)

    def refuse_larger(self, size: int) -> None:
        """Raise TooLarge for a size in bytes over the limit."""
        if size > self.max_bytes:
            of = (
                "MAX_UPLOAD_SIZE"
                if self.max_upload_size <= MAX_FILE_BYTES
                else "the most that is read, whatever the settings"
            )
            raise TooLarge(f"the file has more than {self.max_bytes:,} bytes ({of}): split it")


class Recognizing(NamedTuple):
    """How pages of an upload are recognized. `show_page` is told as `OnPage` is, and returns
    whether the file gives its place among those that are parsed to another one.
    """

    show_page: Callable[[int, int], bool]
    turn: PageTurn


class UploadResult(NamedTuple):
    """The document that was added, the request with its track id, and warnings about its text."""

    added_document: Added
    request: IngestRequest
    warnings: tuple[str, ...]


async def upload(
    publisher: DocumentPublisher,
    file: UploadedFile,
    options: UploadOptions,
    limits: ReadLimits,
    request: IngestRequest,
    recognizing: Recognizing,
) -> UploadResult:
    """Parse the file and publish its text under its base name, or under its whole path where
    folders are kept.

    The same text under the same name is not added again; the existing document is returned. Raises
    BadRequest for an unsupported name, kind or encoding, InvalidInput for a file without text or
    that cannot be parsed, Conflict when the name has another text, Unavailable when the log does
    not accept it.
    """
    name = accepted_name(file.name, folders=options.folders, services=limits.services)
    hint = Hint(_accepted_encoding(file.encoding), file.charset)
    async with limits.slots.hold(publisher.workspace) as release:

        def on_page(number: int, count: int) -> None:
            if recognizing.show_page(number, count):
                release()

        content = await asyncio.to_thread(file.content.read)
        parsed_file = await parse(content, name, hint, limits.services, on_page, recognizing.turn)
    draft = await draft_file(
        request,
        parsed_file,
        name,
        replaces=options.replace,
        access=options.access,
        keeps_original=limits.keeps_originals,
    )
    try:
        (added_document,) = await publish_drafts(publisher, request, [draft])
    except OtherText:
        raise Conflict(
            f"there is another document of the name {name}: give replace=true to make this its new "
            "version, or give the file another name"
        ) from None
    return UploadResult(added_document, request, parsed_file.warnings)


def accepted_name(
    name: str, *, folders: bool = False, services: ParsingServices = OWN_PARSERS
) -> str:
    """Return the base name of a file, after its folders where they are kept.

    Raises BadRequest for an invalid name or an unsupported kind of file.
    """
    try:
        path = PurePosixPath(validated_text(name))
        base = canonical_name(path.name)
    except InvalidInput as error:
        raise BadRequest(str(error)) from None
    try:
        if not services.reads(name):
            refuse_kind(PurePosixPath(base).suffix)
    except InvalidInput as error:
        raise BadRequest(f"{printable_name(base)}: {error}") from None
    return str(path.parent / base) if folders and base else base


def _accepted_encoding(name: str) -> str:
    try:
        return validated_encoding(name) if name else ""
    except InvalidInput as error:
        raise BadRequest(f"encoding: {error}") from None
