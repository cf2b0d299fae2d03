"""How documents enter the log: checked, once, long texts beside it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import subjects
from contracts.chunking import Chunking
from contracts.envelope import wrap
from contracts.events import DocumentAdded, DocumentDeleted, GraphEdited
from contracts.ids import document_id, md5, path_id, sha256
from contracts.text import INLINE_LIMIT
from contracts.values import CustomKnowledge
from publishing import documents, draft
from publishing.current_version import current_content_hash
from publishing.documents import Added, add_document, added_with_key, reprocess_document
from publishing.draft import DocumentDraft, Submission
from publishing.graph_edits import edit_graph
from runtime.bus.actor import acting_as
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import InvalidInput, Unavailable


class Harness:
    """A publisher's view of an empty bus."""

    def __init__(self) -> None:
        self.log, self.blobs = MemoryLog(), MemoryBlobs()

    async def add(
        self, text: str = "", workspace: str = "w", key: str = "", **fields: Any
    ) -> Added:
        draft = DocumentDraft.of(Submission(text=text, **fields))
        return await add_document(
            self.log, self.blobs, draft, workspace=workspace, source="tests", key=key
        )

    @property
    def events(self) -> list[DocumentAdded]:
        result = [decode(message.data, message.subject).data for message in self.log.messages]
        return [event for event in result if isinstance(event, DocumentAdded)]


@pytest.fixture
def harness() -> Harness:
    return Harness()


async def test_a_document_is_in_the_log_with_everything_that_was_said_of_it(
    harness: Harness,
) -> None:
    chunking = Chunking(size=10, overlap=2)
    addition = await harness.add(
        "text",
        id="d",
        file_path="shelf/d.txt",
        track_id="t",
        metadata={"year": 1999},
        chunking=chunking,
    )
    assert addition._replace(at=0) == Added("d", 1, is_new=True, track_id="t")
    (event,) = harness.events
    assert event == DocumentAdded(
        document_id="d",
        text="text",
        file_path="shelf/d.txt",
        track_id="t",
        metadata={"year": 1999},
        chunking=chunking,
    )


async def test_a_document_without_an_id_is_named_after_its_file(harness: Harness) -> None:
    assert (
        await harness.add("text", file_path="a.txt")
    ).document_id == "doc-a5e54d1fd7bb69a228ef0dcd2431367e"


async def test_a_document_without_a_file_is_named_after_its_text(harness: Harness) -> None:
    assert (
        (await harness.add("  text\n")).document_id == "doc-" + md5("text") == document_id("text")
    )


async def test_the_same_text_twice_is_once(harness: Harness) -> None:
    first = await harness.add("text", id="d")
    again = await harness.add("text", id="d")
    assert again._replace(at=0) == Added("d", first.sequence, is_new=False)
    assert len(harness.log.messages) == 1


async def test_a_text_that_comes_back_after_another_one_is_a_new_version(harness: Harness) -> None:
    sequences = [(await harness.add(text, id="d")).sequence for text in "ABA"]
    assert sequences == [1, 2, 3]
    assert [event.text for event in harness.events] == ["A", "B", "A"]
    assert len(harness.log.ids) == 3


async def test_after_its_deletion_the_same_text_is_new(harness: Harness) -> None:
    await harness.add("text", id="d")
    deletion = wrap(
        DocumentDeleted(document_id="d"),
        id="deletion",
        source="tests",
        workspace="w",
        time=datetime.now(UTC),
    )
    await harness.log.publish(deletion)
    assert (await harness.add("text", id="d"))._replace(at=0) == Added("d", 3, is_new=True)
    assert (await harness.add("text", id="d")).is_new is False


async def test_one_document_in_two_workspaces_is_two_documents(harness: Harness) -> None:
    assert (await harness.add("text", id="d", workspace="one")).is_new
    assert (await harness.add("text", id="d", workspace="two")).is_new


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x01", "\ud800", "&nbsp;", "\ufffe"])
async def test_a_text_without_anything_to_read_is_refused(harness: Harness, text: str) -> None:
    with pytest.raises(InvalidInput, match="at least one printable character"):
        await harness.add(text)
    assert harness.log.messages == []


async def test_lone_surrogates_are_left_out(harness: Harness) -> None:
    addition = await harness.add("a\ud800b", id="d\udfff", file_path="f\ud800.txt")
    (event,) = harness.events
    assert (addition.document_id, event.text, event.file_path) == ("d", "ab", "f.txt")


@settings(max_examples=60)
@given(st.text(min_size=1))
async def test_any_text_is_taken_or_refused_and_the_same_one_is_never_taken_twice(
    text: str,
) -> None:
    harness = Harness()
    try:
        first = await harness.add(text)
    except InvalidInput:
        assert harness.log.messages == []
        return
    assert (await harness.add(text))._replace(at=0) == Added(first.document_id, 1, is_new=False)


async def test_a_text_up_to_the_limit_stands_in_the_event(harness: Harness) -> None:
    await harness.add("ä" * (INLINE_LIMIT // 2), id="d")
    assert harness.events[0].blob is None
    assert harness.blobs.texts == {}


async def test_a_longer_text_stands_beside_the_log(harness: Harness) -> None:
    text = "ä" * (INLINE_LIMIT // 2) + "."
    await harness.add(text, id="d")
    event = harness.events[0]
    assert event.text is None
    assert event.blob is not None
    assert event.blob.size == len(text.encode())
    assert await harness.blobs.get(event.blob) == text
    assert (await harness.add(text, id="d")).is_new is False


async def test_a_text_over_the_greatest_length_is_refused(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "MAX_TEXT_BYTES", 10)
    with pytest.raises(InvalidInput, match="11 bytes, at most 10 are taken: split the document"):
        await harness.add("x" * 11)


MILL = CustomKnowledge.model_validate(
    {
        "chunks": [{"content": "The tide mill.", "source_id": "s"}],
        "entities": [{"name": "Tide mill", "source_id": "s"}],
    }
)


async def test_knowledge_stands_in_the_log_instead_of_a_text(harness: Harness) -> None:
    addition = await harness.add(id="d", knowledge=MILL)
    assert addition._replace(at=0) == Added("d", 1, is_new=True)
    (event,) = harness.events
    assert (event.knowledge, event.text, event.blob) == (MILL, None, None)
    assert (await harness.add(knowledge=MILL)).document_id.startswith("doc-")


async def test_the_same_knowledge_twice_is_once_and_other_knowledge_is_a_new_version(
    harness: Harness,
) -> None:
    await harness.add(id="d", knowledge=MILL)
    assert (await harness.add(id="d", knowledge=MILL))._replace(at=0) == Added("d", 1, is_new=False)
    other_knowledge = MILL.model_copy(update={"entities": ()})
    assert (await harness.add(id="d", knowledge=other_knowledge))._replace(at=0) == Added(
        "d", 2, is_new=True
    )


async def test_long_knowledge_stands_beside_the_log_and_is_the_same_twice(
    harness: Harness,
) -> None:
    passages = [{"content": f"{number} " + "x" * 90_000} for number in range(3)]
    knowledge = CustomKnowledge.model_validate({"chunks": passages})
    assert (await harness.add(id="d", knowledge=knowledge)).is_new
    assert not (await harness.add(id="d", knowledge=knowledge)).is_new
    (event,) = harness.events
    assert event.blob and (event.blob_kind, event.knowledge) == ("knowledge", None)
    parts = await harness.blobs.parts(event.blob)
    assert CustomKnowledge.model_validate_json(b"".join(parts)) == knowledge


async def test_a_text_and_knowledge_together_are_refused(harness: Harness) -> None:
    with pytest.raises(InvalidInput, match="not both"):
        await harness.add("text", knowledge=MILL)


async def test_pages_are_counted_in_the_text_that_is_published(harness: Harness) -> None:
    await harness.add("one\ud800\ntwo\n", pages=(0, 5))
    await harness.add("one\ntwo\n", pages=(0, 4), id="other")
    assert [(event.text, event.pages) for event in harness.events] == [("one\ntwo\n", (0, 4))] * 2


async def test_pages_that_go_back_are_refused(harness: Harness) -> None:
    with pytest.raises(InvalidInput, match="must not go back"):
        await harness.add("text", pages=(3, 1))


async def test_cutting_that_cannot_be_done_is_refused_where_the_service_s_own_is_known(
    harness: Harness,
) -> None:
    with pytest.raises(InvalidInput, match="overlap 1200 must be smaller than size 1200"):
        await harness.add(
            "text",
            chunking=Chunking(overlap=1200),
            default_chunking=Chunking(size=1200, overlap=100),
        )
    with pytest.raises(
        InvalidInput, match="overlap 601 is more than half of size 1200: give at most 600"
    ):
        await harness.add(
            "text",
            chunking=Chunking(overlap=601),
            default_chunking=Chunking(size=1200, overlap=100),
        )
    with pytest.raises(
        InvalidInput, match="overlap 999 is more than half of size 1000: give at most 500"
    ):
        await harness.add("text", chunking=Chunking(size=1000, overlap=999))
    assert harness.log.messages == []
    assert (
        await harness.add(
            "text", chunking=Chunking(size=50), default_chunking=Chunking(size=1200, overlap=9)
        )
    ).is_new
    assert harness.events[0].chunking == Chunking(size=50), "the service's own is not published"


async def test_an_event_of_newer_code_does_not_keep_a_text_out(harness: Harness) -> None:
    subject = subjects.subject("w", "d", "DocumentAdded")
    harness.log.append(
        subject, b'{"specversion": "1.0", "type": "lightstream.DocumentAdded.v9"}', "foreign"
    )
    assert (await harness.add("text", id="d"))._replace(at=0) == Added("d", 2, is_new=True)


async def test_of_several_calls_with_one_key_only_the_first_adds_anything(harness: Harness) -> None:
    first = await harness.add("one", id="d", track_id="a", key="k")
    await harness.add("two", id="d", track_id="b")
    assert first._replace(at=0) == Added("d", 1, is_new=True, track_id="a")
    again = await harness.add("one", id="d", track_id="a", key="k")
    assert again == first._replace(is_new=False)
    assert [event.text for event in harness.events] == ["one", "two"]
    draft = DocumentDraft.of(Submission(text="one", id="d"))
    for workspace, key, expected in (("w", "k", again), ("w", "j", None), ("other", "k", None)):
        assert await added_with_key(harness.log, draft, workspace=workspace, key=key) == expected


async def test_a_document_is_added_again_in_the_version_that_is_meant_and_once(
    harness: Harness,
) -> None:
    await harness.add("text", id="d", track_id="t")
    for _ in range(2):
        await reprocess_document(harness.log, workspace="w", id="d", version=1, source="tests")
    assert [(event.text, event.track_id) for event in harness.events] == [("text", "t")] * 2
    assert (
        await reprocess_document(harness.log, workspace="w", id="nobody", version=1, source="tests")
        is None
    )
    assert (
        await reprocess_document(harness.log, workspace="w", id="d", version=1, source="tests")
        is None
    )


async def test_an_edit_is_in_the_log_and_the_same_one_later_is_a_new_one(harness: Harness) -> None:
    edit = GraphEdited(operation="delete_entity", names=("Ada",))
    times = [
        await edit_graph(harness.log, workspace="w", edit=edit, source="tests") for _ in range(2)
    ]
    assert times[0] < times[1]
    assert len(harness.log.messages) == 2
    assert decode(harness.log.messages[0].data, harness.log.messages[0].subject).data == edit


async def test_a_log_that_is_full_is_said_to_the_publisher(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> int:
        raise Unavailable("KB_EVENTS is full", retry_after=30.0)

    monkeypatch.setattr(harness.log, "publish", full)
    with pytest.raises(Unavailable) as error:
        await harness.add("text")
    assert error.value.retry_after == 30.0


async def test_everything_that_is_published_carries_in_whose_name_and_repeats_change_nothing(
    harness: Harness,
) -> None:
    with acting_as("key:ci"):
        await harness.add("text", id="d")
        await edit_graph(
            harness.log,
            workspace="w",
            edit=GraphEdited(operation="delete_entity", names=("A",)),
            source="tests",
        )
        version = await documents.cancel_document(
            harness.log, workspace="w", id="d", editor="", source="tests"
        )
        again = await reprocess_document(
            harness.log, workspace="w", id="d", version=1, source="tests"
        )
        assert version is not None
        assert again is not None
    with acting_as("user:ada"):
        assert not (await harness.add("text", id="d")).is_new
        await documents.delete_document(harness.log, workspace="w", id="d", source="tests")
    await harness.add("more", id="e")
    actors = [decode(message.data, message.subject).actor for message in harness.log.messages]
    assert actors == ["key:ci"] * 4 + ["user:ada", None]


COMPOSED = "Übersicht Café.md"
DECOMPOSED = "U\u0308bersicht Cafe\u0301.md"


async def test_both_spellings_of_a_file_name_are_one_document(harness: Harness) -> None:
    first = await harness.add("text", file_path=DECOMPOSED)
    again = await harness.add("text", file_path=COMPOSED)
    third = await harness.add("newer text", file_path=DECOMPOSED)
    assert {first.document_id, again.document_id, third.document_id} == {document_id("", COMPOSED)}
    assert [again.is_new, third.is_new] == [False, True]
    assert {event.file_path for event in harness.events} == {COMPOSED}


async def test_both_spellings_of_a_given_id_are_one_document(harness: Harness) -> None:
    first = await harness.add("text", id="café-1")
    assert (await harness.add("text", id="cafe\u0301-1"))._replace(at=0) == first._replace(
        at=0, is_new=False
    )


@pytest.mark.parametrize(
    ("id", "submission"),
    [
        ("doc-" + md5(DECOMPOSED), {"file_path": COMPOSED}),
        ("doc-" + md5(DECOMPOSED), {"file_path": DECOMPOSED}),
        (
            "doc-" + md5(f"a/{DECOMPOSED}"),
            {"file_path": f"a/{COMPOSED}", "id": path_id(f"a/{COMPOSED}")},
        ),
        ("cafe\u0301-1", {"file_path": "a.md", "id": "café-1"}),
        ("cafe\u0301-1", {"file_path": "a.md", "id": "cafe\u0301-1"}),
    ],
)
async def test_what_was_added_before_names_had_one_spelling_keeps_its_id(
    harness: Harness, id: str, submission: dict[str, Any]
) -> None:
    old_event = DocumentAdded(document_id=id, text="old", file_path=DECOMPOSED)
    old_time = datetime(2026, 1, 1, tzinfo=UTC)
    await harness.log.publish(
        wrap(old_event, id="old", source="tests", workspace="w", time=old_time)
    )
    assert not (await harness.add("old", **submission)).is_new
    assert (await harness.add("new", **submission)).document_id == id
    name = submission.get("id", id)
    assert await current_content_hash(
        harness.log, workspace="w", id=name, file_path=submission["file_path"]
    ) == sha256("new")
    deletion = await documents.delete_document(
        harness.log, workspace="w", id=name if "-1" in name else id, source="t"
    )
    assert deletion is not None
    assert (deletion.document_id, deletion.is_new) == (id, True)
