"""A source and the log in step: what changed is added, what is gone deleted, and not too much."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from contracts.access import Access
from contracts.events import DocumentAdded
from operations.documents import RefusedDocument
from operations.sources.port import Listing, SourceFile, SourceItem
from operations.sources.sync import MAX_FAILURES, Sync, SyncOutcome, SyncRequest
from publishing.sources import (
    existing_source,
    read_source,
    read_sources,
    set_source,
    source_document_id,
)
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import InvalidInput, NotFound, Unavailable

NAME = "s3://harbour"
FOUR = {f"{name}.md": f"Document {name} of the harbour." for name in "abcd"}


class TextSource:
    """Texts by their keys, each with the text itself as its version unless there is none."""

    name = NAME

    def __init__(self, texts: Mapping[str, str], *, has_versions: bool = True) -> None:
        self.texts, self.has_versions, self.lists_all = dict(texts), has_versions, True
        self.reads: list[str] = []
        self.silent: set[str] = set()
        self.unreadable: list[RefusedDocument] = []
        self.cursor = ""
        self.versions_tell_content = has_versions

    async def list_items(self, cursor: str) -> Listing | None:
        if cursor and cursor == self.cursor:
            return None
        items = [
            SourceItem(key, f"harbour/{key}", text if self.has_versions else "", f"s3://{key}")
            for key, text in self.texts.items()
        ]
        return Listing(items, unreadable=self.unreadable, cursor=self.cursor)

    async def read(self, item: SourceItem) -> SourceFile:
        self.reads.append(item.key)
        if item.key in self.silent:
            raise Unavailable("the bucket does not answer")
        return SourceFile(self.texts[item.key].encode(), item.key)

    async def close(self) -> None: ...


class Bench:
    """A log in memory, and runs over a source."""

    def __init__(self) -> None:
        self.log, self.blobs = MemoryLog(), MemoryBlobs()

    async def sync(self, source: TextSource, request: SyncRequest | None = None) -> SyncOutcome:
        source.reads.clear()
        return await Sync(self.log, self.blobs, source, request or SyncRequest("w")).run()

    def types(self) -> list[str]:
        return [
            message.subject.rpartition(".")[2]
            for message in self.log.messages
            if "x-questions" not in message.subject
        ]


async def test_only_what_changed_is_read_and_what_is_gone_is_deleted() -> None:
    bench, source = Bench(), TextSource(FOUR)
    outcome = await bench.sync(source)
    assert (len(outcome.additions), outcome.item_count, outcome.has_failed) == (4, 4, False)
    assert (await bench.sync(source)).unchanged_count == 4
    assert source.reads == []

    source.texts["b.md"] = "Document b was changed."
    del source.texts["d.md"]
    outcome = await bench.sync(source)
    assert (outcome.additions, source.reads) == (["harbour/b.md"], ["b.md"])
    assert outcome.deletions == ["harbour/d.md"]
    assert bench.types() == ["DocumentAdded"] * 5 + ["DocumentDeleted"]
    state = await read_source(bench.log, "w", NAME)
    assert state.versions.keys() == {source_document_id(NAME, key) for key in source.texts}
    assert await existing_source(bench.log, "w", NAME) == state
    with pytest.raises(NotFound, match=f"has no source 'nosuch'; it has {NAME}"):
        await existing_source(bench.log, "w", "nosuch")


async def test_a_document_carries_its_source_and_the_cursor_no_word_of_it() -> None:
    bench = Bench()
    await bench.sync(TextSource({"Ada Marlow.md": "Ada leads the office."}, has_versions=False))
    events = [
        decode(message.data, message.subject, message.headers).data
        for message in bench.log.messages
    ]
    document = events[0]
    assert isinstance(document, DocumentAdded) and document.file_path == "harbour/Ada Marlow.md"
    assert document.metadata["source"] == NAME
    assert document.metadata["url"] == "s3://Ada Marlow.md"
    assert len(events) == 3
    assert all("Ada" not in event.model_dump_json() for event in events[1:])


async def test_much_that_is_gone_at_once_is_kept_until_somebody_says_yes() -> None:
    bench, source = Bench(), TextSource(FOUR)
    await bench.sync(source)
    source.texts = {"a.md": FOUR["a.md"], "e.md": "Document e is new."}
    outcome = await bench.sync(source)
    assert (outcome.additions, outcome.deletions, len(outcome.kept_documents)) == (
        ["harbour/e.md"],
        [],
        3,
    )
    assert outcome.has_failed
    (state,) = await read_sources(bench.log, "w")
    assert state.last_run and state.last_run.kept_count == 3 and len(state.versions) == 5
    outcome = await bench.sync(source, SyncRequest("w", all_gone=True))
    assert (len(outcome.deletions), outcome.has_failed) == (3, False)


async def test_what_moved_is_not_lost_and_one_document_of_several_is_no_mass() -> None:
    bench, source = Bench(), TextSource(FOUR)
    await bench.sync(source)
    source.texts = {f"archive/{key}": text for key, text in FOUR.items()}
    outcome = await bench.sync(source)
    assert (len(outcome.additions), len(outcome.deletions), outcome.has_failed) == (4, 4, False)
    for left in (3, 2, 1):
        source.texts.popitem()
        outcome = await bench.sync(source)
        assert (len(outcome.deletions), outcome.item_count) == (1, left)
    source.texts.clear()
    outcome = await bench.sync(source)
    assert (outcome.deletions, len(outcome.kept_documents)) == ([], 1), "it was the last one"


async def test_without_a_share_nothing_is_deleted_and_equal_times_are_no_move() -> None:
    bench, source = Bench(), TextSource(FOUR)
    source.versions_tell_content = False
    await bench.sync(source)
    del source.texts["d.md"]
    outcome = await bench.sync(source, SyncRequest("w", most_gone=0))
    assert (outcome.deletions, len(outcome.kept_documents)) == ([], 1)
    source.texts = {f"archive/{key}": text for key, text in FOUR.items()}
    assert len((await bench.sync(source)).kept_documents) == 4


async def test_nothing_is_gone_from_what_could_not_be_listed_or_never_lists_all() -> None:
    bench, source = Bench(), TextSource(FOUR)
    await bench.sync(source)
    del source.texts["d.md"]
    source.unreadable = [RefusedDocument("folder", "cannot be read: permission denied")]
    outcome = await bench.sync(source)
    assert (outcome.deletions, outcome.has_failed) == ([], True)
    source.unreadable, source.lists_all = [], False
    outcome = await bench.sync(source)
    assert (outcome.deletions, outcome.has_failed) == ([], False)


async def test_a_document_that_cannot_be_read_is_tried_again_and_stops_no_other() -> None:
    bench, source = Bench(), TextSource({**FOUR, "e.pdf": "no pdf"})
    source.silent, source.cursor = {"b.md"}, "commit-1"
    outcome = await bench.sync(source)
    assert [refused.name for refused in outcome.refusals] == ["harbour/b.md", "harbour/e.pdf"]
    assert "the next run tries it again" in outcome.refusals[0].reason
    source.silent = set()
    del source.texts["e.pdf"]
    assert (await bench.sync(source)).additions == ["harbour/b.md"]
    assert (await bench.sync(source)).unchanged_count == 4 and source.reads == []


async def test_a_run_that_is_cut_short_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("operations.sources.sync.PART", 2)
    many = {f"{number:02}.md": f"Document {number} is here." for number in range(2 + MAX_FAILURES)}
    bench, source = Bench(), TextSource(many)
    source.silent = set(list(many)[2:])
    with pytest.raises(Unavailable, match="the bucket does not answer"):
        await bench.sync(source)
    (state,) = await read_sources(bench.log, "w")
    assert (len(state.versions), state.last_run) == (2, None)
    source.silent = set()
    assert len((await bench.sync(source)).additions) == MAX_FAILURES


async def test_without_versions_only_the_bytes_tell_what_changed() -> None:
    bench, source = Bench(), TextSource(FOUR, has_versions=False)
    await bench.sync(source)
    source.texts["a.md"] = "Document a was changed."
    outcome = await bench.sync(source)
    assert (outcome.additions, outcome.unchanged_count, len(source.reads)) == (
        ["harbour/a.md"],
        3,
        4,
    )


async def test_a_dry_run_changes_nothing() -> None:
    bench, source = Bench(), TextSource(FOUR)
    outcome = await bench.sync(source, SyncRequest("w", dry_run=True))
    assert (len(outcome.additions), bench.log.messages, source.reads) == (4, [], [])


async def test_a_paused_source_is_not_read_and_a_forgotten_one_is_read_anew() -> None:
    bench, source = Bench(), TextSource(FOUR)
    await bench.sync(source)
    await set_source(bench.log, "w", NAME, "paused", reason="", publisher="/t")
    with pytest.raises(InvalidInput, match="is paused"):
        await bench.sync(source)
    await set_source(bench.log, "w", NAME, "active", reason="", publisher="/t")
    assert (await bench.sync(source)).unchanged_count == 4
    await set_source(bench.log, "w", NAME, "forgotten", reason="", publisher="/t")
    assert await read_sources(bench.log, "w") == []
    outcome = await bench.sync(source)
    assert (len(source.reads), outcome.additions) == (4, [])  # read, and the log has these texts
    with pytest.raises(InvalidInput, match="has no source"):
        await set_source(bench.log, "w", "other", "paused", reason="", publisher="/t")


async def test_sources_of_one_workspace_are_not_those_of_another() -> None:
    bench, source = Bench(), TextSource(FOUR)
    await bench.sync(source)
    outcome = await bench.sync(source, replace(SyncRequest("w"), workspace="v"))
    assert len(outcome.additions) == 4
    assert len(await read_sources(bench.log, "v")) == 1


async def test_what_a_run_adds_carries_who_may_see_it() -> None:
    bench, source = Bench(), TextSource(FOUR)
    access = Access(allow=("group:council",))
    await bench.sync(source, SyncRequest("w", access=access))
    events = [
        decode(message.data, message.subject, message.headers).data
        for message in bench.log.messages
    ]
    assert {event.access for event in events if isinstance(event, DocumentAdded)} == {access}
