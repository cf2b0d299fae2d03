"""Keeps the log in step with a source: adds what changed, deletes what is gone, with a brake."""

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from contracts.access import Access
from contracts.events import SourceDocument, SourceSynced
from contracts.ids import sha256
from operations.adding import BUS_RETURNS, BUS_TRIES, bus_is_away
from operations.command_bus import SOURCE as PUBLISHER
from operations.documents import LeftOutFile, RefusedDocument
from operations.sources.port import Listing, Source, SourceFile, SourceItem
from publishing.current_version import current_version
from publishing.documents import Added, add_document, delete_document
from publishing.draft import DocumentDraft, Submission
from publishing.sources import (
    SyncedSource,
    publish_of_source,
    read_source,
    source_document_id,
)
from runtime.batching import batched
from runtime.bus.port import Blobs, Log
from runtime.concurrency.bounded_gathering import gather_bounded
from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.encodings import Hint
from runtime.parsing.files import parse
from runtime.parsing.names import printable_name
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

MOST_GONE = 0.25
"""Share of a source's documents that may be deleted at once without being asked for."""

AT_ONCE = 4
"""Documents that are read at the same time."""

PART = 200
"""Documents after which the log is told how far a run is, so that another one goes on there."""

MAX_FAILURES = 10
"""Documents in a row that a source does not give, after which it counts as silent."""


@dataclass(frozen=True)
class SyncRequest:
    """What somebody asks for."""

    workspace: str
    dry_run: bool = False
    """True changes nothing, and reads nothing but the list."""
    all_gone: bool = False
    """True deletes whatever is gone, however much that is."""
    most_gone: float = MOST_GONE
    reason: str = ""
    access: Access | None = None
    """Who may see what this run adds; None says nothing of it."""
    services: ParsingServices = OWN_PARSERS
    """Who reads the files that our own parsers do not."""


@dataclass
class SyncOutcome:
    """What a run did, or with `dry_run` would do; documents by their names."""

    source: str
    dry_run: bool = False
    item_count: int = 0
    additions: list[str] = field(default_factory=list[str])
    unchanged_count: int = 0
    refusals: list[RefusedDocument] = field(default_factory=list[RefusedDocument])
    skipped_files: list[LeftOutFile] = field(default_factory=list[LeftOutFile])
    deletions: list[str] = field(default_factory=list[str])
    kept_documents: list[str] = field(default_factory=list[str])
    """Gone from the source, and not deleted as they are too many at once."""
    times: dict[str, int] = field(default_factory=dict[str, int])
    """When the text of each added document was added, by its id; see `Added`."""
    last_sequence: int = 0
    note: str = ""
    """What the source says of how it was listed."""

    @property
    def has_failed(self) -> bool:
        """Return whether anything was not done that should have been."""
        return bool(self.refusals or self.kept_documents)


def failed_outcome(source: str, error: Exception) -> SyncOutcome:
    """Return the outcome of a run that could not list its source."""
    return SyncOutcome(source, refusals=[RefusedDocument(source, str(error))])


@dataclass
class Sync:
    """One run over one source."""

    log: Log
    blobs: Blobs
    source: Source
    request: SyncRequest
    on_progress: Callable[[int, int], None] = lambda count, total: None
    _track: str = field(default_factory=lambda: f"sync_{uuid.uuid4()}")
    _failures: int = 0
    _read_count: int = 0
    outcome: SyncOutcome = field(init=False)

    async def run(self) -> SyncOutcome:
        """Return what was done. Raises InvalidInput for a source that is paused or cannot be
        listed, Unavailable for one that does not answer, and for the log.
        """
        name = self.source.name
        state = await read_source(self.log, self.request.workspace, name)
        if state.state == "paused":
            raise InvalidInput(f"{name} is paused: `lightstream sources resume {name}`")
        outcome = self.outcome = SyncOutcome(name, self.request.dry_run)
        listing = await self.source.list_items(state.cursor)
        if listing is None:
            outcome.item_count = outcome.unchanged_count = len(state.versions)
            await self._report(cursor=state.cursor)
            return outcome
        items = {source_document_id(name, item.key): item for item in listing.items}
        gone_ids = self._gone_ids(state, items, listing)
        is_partial = listing.gone_keys is not None
        present_ids = items.keys() | (state.versions.keys() if is_partial else ())
        outcome.item_count = len(present_ids.difference(gone_ids))
        outcome.unchanged_count = outcome.item_count - len(items)
        outcome.skipped_files = listing.skipped_files
        outcome.note = listing.note
        outcome.refusals += listing.unreadable
        await self._add_changed(state, items)
        moved_count = self._moved_count(state, items, gone_ids)
        await self._delete_gone(state, gone_ids, listing, moved_count)
        return outcome

    def _gone_ids(
        self, state: SyncedSource, items: dict[str, SourceItem], listing: Listing
    ) -> list[str]:
        """Return what was read before and is gone: nothing where not all was listed."""
        if listing.gone_keys is not None:
            ids = (source_document_id(self.source.name, key) for key in listing.gone_keys)
            return [id for id in ids if id in state.versions]
        is_complete = self.source.lists_all and not listing.unreadable
        return [id for id in state.versions if id not in items] if is_complete else []

    def _moved_count(
        self, state: SyncedSource, items: dict[str, SourceItem], gone_ids: list[str]
    ) -> int:
        """Return how many of what is gone are there under another name."""
        if not self.source.versions_tell_content:
            return 0
        versions = {_bounded(item.version) for item in items.values() if item.version}
        return sum(state.versions[id] in versions for id in gone_ids)

    async def _add_changed(self, state: SyncedSource, items: dict[str, SourceItem]) -> None:
        changed_items = {
            id: item
            for id, item in items.items()
            if not item.version or state.versions.get(id) != _bounded(item.version)
        }
        self.outcome.unchanged_count += len(items) - len(changed_items)
        if self.request.dry_run:
            self.outcome.additions = [item.name for item in changed_items.values()]
            return
        for part in batched(changed_items.items(), PART):
            add = partial(self._add, state, len(changed_items))
            documents = await gather_bounded(add, part, at_once=AT_ONCE)
            added_documents = [document for document in documents if document]
            if added_documents:
                await self._report(added_documents, is_end=False)

    async def _add(
        self, state: SyncedSource, total: int, entry: tuple[str, SourceItem]
    ) -> SourceDocument | None:
        """Add one document and return its version; None for one that is refused or unchanged."""
        id, item = entry
        try:
            file = await self._read(item)
            version = _bounded(item.version) or sha256_of(file.data)
            if state.versions.get(id) == version:
                self.outcome.unchanged_count += 1
                return None
            publication = await self._publish(id, item, file)
        except InvalidInput as error:
            self.outcome.refusals.append(refused(item, error))
            return None
        finally:
            self._read_count += 1
            self.on_progress(self._read_count, total)
        if publication.is_new:
            self.outcome.additions.append(item.name)
            self.outcome.times[publication.document_id] = publication.at
            self.outcome.last_sequence = max(self.outcome.last_sequence, publication.sequence)
        else:
            self.outcome.unchanged_count += 1
        return SourceDocument(id=id, version=version)

    async def _read(self, item: SourceItem) -> SourceFile:
        """Read a document; a source that gives none of many any more counts as silent."""
        try:
            file = await self.source.read(item)
        except Unavailable as error:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                raise
            raise InvalidInput(f"{error}; the next run tries it again") from None
        self._failures = 0
        return file

    async def _publish(self, id: str, item: SourceItem, file: SourceFile) -> Added:
        hint = Hint(declared_encoding=file.encoding)
        parsed_file = await parse(file.data, file.name, hint, self.request.services)
        origin = {"source": self.source.name} | ({"url": item.url} if item.url else {})
        submission = Submission(
            text=parsed_file.text,
            file_path=item.name,
            id=id,
            track_id=self._track,
            metadata={**parsed_file.metadata, **origin},
            pages=parsed_file.pages,
            chunking=parsed_file.chunking,
            warnings=parsed_file.warnings,
            figures=parsed_file.figures,
            access=file.access or self.request.access,
        )
        draft = await asyncio.to_thread(DocumentDraft.of, submission)
        workspace = self.request.workspace
        add = partial(
            add_document, self.log, self.blobs, draft, workspace=workspace, source=PUBLISHER
        )
        return await BUS_RETURNS.retry(add, bus_is_away, BUS_TRIES)

    async def _delete_gone(
        self, state: SyncedSource, gone_ids: list[str], listing: Listing, moved_count: int
    ) -> None:
        """Delete what is gone, unless that is too much at once, and note how the run ended.

        What moved is not lost, and one document is no mass, unless it is the last one.
        """
        lost_count = len(gone_ids) - moved_count
        is_much = lost_count > self.request.most_gone * len(state.versions)
        is_one_of_several = lost_count == 1 and len(state.versions) > 1 and self.request.most_gone
        is_braked = is_much and not is_one_of_several and not self.request.all_gone
        for part in batched(gone_ids, PART):
            names = await gather_bounded(self._name_of, part, at_once=AT_ONCE)
            (self.outcome.kept_documents if is_braked else self.outcome.deletions).extend(names)
            if not (is_braked or self.request.dry_run):
                await gather_bounded(self._delete, part, at_once=AT_ONCE)
                await self._report(removed_ids=part, is_end=False)
        await self._report(cursor="" if self.outcome.has_failed else listing.cursor)

    async def _name_of(self, id: str) -> str:
        event = (await current_version(self.log, self.request.workspace, id)).event
        return event.file_path if event else id

    async def _delete(self, id: str) -> None:
        reason = self.request.reason or f"gone from {self.source.name}"
        await delete_document(
            self.log,
            workspace=self.request.workspace,
            id=id,
            source=PUBLISHER,
            track_id=self._track,
            reason=reason[:1000],
        )

    async def _report(
        self,
        documents: Sequence[SourceDocument] = (),
        removed_ids: Sequence[str] = (),
        *,
        cursor: str = "",
        is_end: bool = True,
    ) -> None:
        """Tell the log how far the run is."""
        if self.request.dry_run:
            return
        event = SourceSynced(
            source=self.source.name,
            documents=tuple(documents),
            removed_ids=tuple(removed_ids),
            cursor=cursor,
            is_end=is_end,
            item_count=self.outcome.item_count,
            refusal_count=len(self.outcome.refusals),
            kept_count=len(self.outcome.kept_documents),
            reason=self.request.reason,
        )
        await publish_of_source(self.log, self.request.workspace, event, PUBLISHER)


def refused(item: SourceItem, error: InvalidInput) -> RefusedDocument:
    """Return a document that cannot be read, with the reason; parsers name its path before it."""
    name = printable_name(item.name)
    reason = str(error).removeprefix(f"{name}: ").removeprefix(f"{printable_name(item.key)}: ")
    return RefusedDocument(name, reason)


def _bounded(version: str) -> str:
    """Return a version as an event holds it."""
    return version if len(version) <= 128 else sha256(version)


def sha256_of(data: bytes) -> str:
    """Return the version of a document of which only the bytes tell."""
    return hashlib.sha256(data).hexdigest()
