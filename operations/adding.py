"""Documents into the log, one after the other: what cannot be read is noted, and the rest goes
on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from nats.js import JetStreamContext

from contracts.access import Access
from contracts.chunking import Chunking
from contracts.values import Validity
from operations.command_bus import SOURCE
from operations.documents import DocumentSource, RefusedDocument, read_document
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.files import Parsed
from runtime.parsing.names import printable_name
from runtime.parsing.scans import OnPage, ignore_page
from runtime.retries import Backoff

STATUS_DURABLE = "query-status"

BUS_RETURNS = Backoff(first=0.5, longest=5.0)
BUS_TRIES = 6
"""Before a document is added once more, which changes nothing if it is in the log: a bus may be
restarted meanwhile.
"""


@dataclass(frozen=True)
class AddedDocument:
    """A document in the log, with its sequence."""

    id: str
    name: str
    sequence: int
    at: int
    """Microseconds since 1970; the state of this text has at least this `added_sequence`."""


@dataclass(frozen=True)
class TextWarning:
    """A document that was added, and what may be missing or wrong in its text."""

    name: str
    warning: str


@dataclass
class AddOutcome:
    """The outcome of adding documents."""

    added: list[AddedDocument] = field(default_factory=list[AddedDocument])
    unchanged: list[AddedDocument] = field(default_factory=list[AddedDocument])
    refused: list[RefusedDocument] = field(default_factory=list[RefusedDocument])
    warnings: list[TextWarning] = field(default_factory=list[TextWarning])

    @property
    def added_at(self) -> dict[str, int]:
        """All documents the log has now: when each one's text was added, by id."""
        return {document.id: document.at for document in (*self.added, *self.unchanged)}

    @property
    def last_sequence(self) -> int:
        """Return the highest log sequence among them."""
        return max((document.sequence for document in (*self.added, *self.unchanged)), default=0)


@dataclass(frozen=True)
class AddOptions:
    """What is said of all documents of one call. `encoding`: of text in files, empty to detect it;
    `access`, `validity`, `chunking`: see `Submission`; `keeps_originals`: whether files are kept
    beside the log; `on_page`: is told of each page of them that had to be recognized.
    """

    encoding: str = ""
    access: Access | None = None
    validity: Validity | None = None
    keeps_originals: bool = False
    chunking: Chunking | None = None
    on_page: OnPage = ignore_page


NO_OPTIONS = AddOptions()


async def add_documents(
    bus: JetStreamContext,
    workspace: str,
    sources: Sequence[DocumentSource],
    *,
    track_id: str,
    on_done: Callable[[str], None],
    options: AddOptions = NO_OPTIONS,
) -> AddOutcome:
    """Read and publish each document. What cannot be read is reported and the rest goes on;
    `on_done` gets each name.
    """
    outcome = AddOutcome()
    for source in sources:
        try:
            parsed_file = await read_document(source, options.encoding, options.on_page)
            draft = _draft(source, parsed_file, track_id, options)
            add = partial(_add, bus, workspace, source.name, draft)
            document, is_new = await BUS_RETURNS.retry(add, bus_is_away, BUS_TRIES)
            (outcome.added if is_new else outcome.unchanged).append(document)
            outcome.warnings += [
                TextWarning(document.name, warning) for warning in parsed_file.warnings
            ]
        except InvalidInput as error:
            name = printable_name(source.name)
            outcome.refused.append(RefusedDocument(name, str(error).removeprefix(f"{name}: ")))
        on_done(source.name)
    return outcome


def bus_is_away(error: Exception) -> bool:
    """Return whether the same call may succeed in a moment."""
    # A full log says when to come back: that is the user's decision.
    return isinstance(error, Unavailable) and error.retry_after is None


async def is_in_status(bus: JetStreamContext, workspace: str, sequence: int) -> bool:
    """Return True if the status of the workspace's documents reflects the log up to that sequence.

    One event that has to be tried again keeps this False for what came after it, though that is
    long shown.
    """
    return await NatsLog(bus).handled(STATUS_DURABLE, workspace=workspace) >= sequence


def _draft(
    source: DocumentSource, parsed_file: Parsed, track_id: str, options: AddOptions
) -> DocumentDraft:
    return DocumentDraft.of(
        Submission(
            text=parsed_file.text,
            file_path=source.name,
            id=source.id,
            track_id=track_id,
            metadata=parsed_file.metadata,
            pages=parsed_file.pages,
            chunking=options.chunking or parsed_file.chunking,
            warnings=parsed_file.warnings,
            figures=parsed_file.figures,
            access=options.access,
            validity=options.validity,
            original=parsed_file.data if options.keeps_originals else b"",
        )
    )


async def _add(
    bus: JetStreamContext, workspace: str, name: str, draft: DocumentDraft
) -> tuple[AddedDocument, bool]:
    added_document = await add_document(
        NatsLog(bus), NatsBlobs(bus), draft, workspace=workspace, source=SOURCE
    )
    return AddedDocument(
        added_document.document_id, name, added_document.sequence, added_document.at
    ), added_document.is_new
