"""What an erasure removes is found from the document's own events, and what stays says nothing of
what it said.
"""

from datetime import UTC, datetime

from contracts import subjects
from contracts.envelope import wrap
from contracts.events import (
    ChunksCreated,
    CitedDocument,
    DescriptionSummarized,
    DocumentAdded,
    DocumentErased,
    EntitiesExtracted,
    ErasedEvent,
    Event,
    FeedbackGiven,
    GoldenExpectation,
    GoldenQuestionSet,
    GraphEdited,
    GraphMerged,
    StageFailed,
)
from contracts.graph import Partition
from contracts.values import (
    BlobRef,
    Chunk,
    ChunkRef,
    DocumentVersion,
    EntityRevision,
    ExtractedEntity,
    ExtractedRelation,
    RelationRevision,
)
from operations.erasure.caches import DROPPED, empty_caches
from operations.erasure.plan import DocumentHistory, is_derived, names_document, read_history
from operations.erasure.receipts import make_receipt
from operations.moving.filled_stores import left_behind, note_filled
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryBlobs, MemoryLog, MemorySharedValues
from runtime.bus.nats.log_integrity import LogState, difference
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Table
from runtime.stores.port import LogMark

AT = datetime(2026, 11, 22, tzinfo=UTC)
VERSION = DocumentVersion(id="d", version=1, added_at=AT)
CHUNK = ChunkRef(id="d-chunk-000", order=0)
BLOB = BlobRef(sha256="a" * 64, size=3, parts=1)
EXTRACTED = EntitiesExtracted(
    document=VERSION,
    chunk=CHUNK,
    entities=(ExtractedEntity(name="Quill", type="person", description="a person"),),
    relations=(ExtractedRelation(source="Quill", target="Ada", description="met"),),
    model="m",
    prompt_version="1",
    cache_key="k",
)
MERGED = GraphMerged(
    document=VERSION,
    chunks=(CHUNK,),
    entities=(EntityRevision(name="Quillfeather", revision=1),),
    relations=(RelationRevision(source="Ada", target="Quill", revision=1),),
)


async def history_of(*events: Event) -> DocumentHistory:
    """What the log tells of the document of these events."""
    log = MemoryLog()
    for number, event in enumerate(events):
        await log.publish(wrap(event, id=f"e{number}", source="tests", workspace="w", time=AT))
    messages = [
        message async for page in log.read(0, [subjects.of_document("w", "d")]) for message in page
    ]
    return read_history("w", "d", messages)


async def test_its_events_name_its_texts_and_what_it_says_something_of() -> None:
    cut = ChunksCreated(
        document=VERSION,
        part=0,
        parts=1,
        chunk_count=1,
        chunks=(Chunk(id=CHUNK.id, order=0, content="x", tokens=1),),
    )
    original = BLOB.model_copy(update={"sha256": "f" * 64})
    document = DocumentAdded(document_id="d", blob=BLOB, original=original)
    history = await history_of(document, cut, EXTRACTED, MERGED)
    assert list(history.leaves) == [1, 2, 3, 4]
    assert history.blobs == {BLOB.sha256: BLOB, original.sha256: original}
    assert history.keys == {("Quill",), ("Quillfeather",), ("Ada", "Quill")}
    assert history.counts == {
        "DocumentAdded": 1,
        "ChunksCreated": 1,
        "EntitiesExtracted": 1,
        "GraphMerged": 1,
    }


async def test_a_tombstone_is_no_event_to_erase_and_tells_whether_the_erasure_ended() -> None:
    erased_events = (ErasedEvent(sequence=1, sha256="b" * 64),)
    beginning = DocumentErased(document_id="d", erased=erased_events)
    history = await history_of(beginning)
    assert (history.leaves, history.unfinished, history.first) == ({}, True, 1)
    ended_history = await history_of(
        beginning, DocumentErased(document_id="d", part=1, receipt="c" * 64)
    )
    assert not ended_history.unfinished


async def test_a_killed_erasure_finds_the_rest_and_where_the_document_began() -> None:
    beginning = DocumentErased(document_id="d", erased=(ErasedEvent(sequence=1, sha256="b" * 64),))
    history = await history_of(DocumentAdded(document_id="other", text="x"), beginning, EXTRACTED)
    assert (list(history.leaves), history.unfinished, history.first) == ([3], True, 1)


def test_summaries_of_its_things_and_what_was_merged_of_them_go_with_it() -> None:
    summary = DescriptionSummarized(
        key=("Quill",), inputs_hash="0" * 64, prompt_version="1", model="m", text="what Quill did"
    )
    failure = StageFailed(
        stage="merger",
        document_id=summary.aggregate_id,
        cause_type="GraphMerged",
        error_type="E",
        message="m",
        attempt=1,
        retry_may_help=False,
    )
    merge = GraphMerged(
        chunks=(), entities=(EntityRevision(name="Quill", revision=2),), relations=()
    )
    edit = GraphEdited(operation="delete_entity", names=("Quill",))

    def derived(event: Event, *, cause: str = "s", summaries: frozenset[str]) -> bool:
        envelope = wrap(event, id="x", source="tests", workspace="w", time=AT)
        return is_derived(envelope.model_copy(update={"causationid": cause}), summaries, {"s"})

    of_quill = frozenset({summary.aggregate_id})
    assert derived(summary, summaries=of_quill)
    assert derived(failure, summaries=of_quill)
    assert derived(merge, summaries=of_quill)
    assert not derived(summary, summaries=frozenset())
    assert not derived(merge, cause="an edit", summaries=of_quill)
    assert not derived(edit, summaries=of_quill)


def test_a_receipt_is_of_the_last_erasure_and_its_hash_changes_with_it() -> None:
    first = DocumentErased(document_id="d", erased=(ErasedEvent(sequence=1, sha256="b" * 64),))
    last_part = DocumentErased(document_id="d", part=1, receipt="c" * 64)
    second = DocumentErased(
        document_id="d", erased=(ErasedEvent(sequence=9, sha256="d" * 64),), reason="asked for"
    )
    receipt = make_receipt("w", [first, last_part, second], {"blobs": 1}, "os:ada", ["here"])
    assert (receipt.events, receipt.reason, receipt.counts) == (
        {9: "d" * 64},
        "asked for",
        {"blobs": 1, "events_in_all": 1},
    )
    other_receipt = make_receipt("w", [first, last_part, second], {"blobs": 2}, "os:ada", ["here"])
    assert receipt.sha256 != other_receipt.sha256 and receipt.remarks[-1] == "here"
    assert receipt.last_part(3).receipt == receipt.sha256


async def test_a_document_that_is_added_again_is_no_repetition_of_the_one_that_was_erased() -> None:
    log = MemoryLog()
    blobs = MemoryBlobs()

    async def add() -> str:
        await add_document(
            log,
            blobs,
            DocumentDraft.of(Submission(text="the text", id="d")),
            workspace="w",
            source="tests",
        )
        message = await log.newest("w", "d", "DocumentAdded")
        assert message
        return decode(message.data, message.subject).id

    first = await add()
    tombstone = DocumentErased(document_id="d", part=1, receipt="c" * 64)
    await log.publish(wrap(tombstone, id="t", source="tests", workspace="w", time=AT))
    log.messages = [
        message for message in log.messages if not message.subject.endswith("DocumentAdded")
    ]
    assert await add() != first


def test_sequences_without_a_message_are_no_loss_as_far_as_erasures_left_them() -> None:
    log_mark = LogMark("now", 10, "", missing=1)
    state = LogState("now", 12, missing_count=4)
    assert difference(state, log_mark) == "3 of its messages are gone"
    assert difference(state, log_mark, erased_count=4) == ""
    assert difference(state, log_mark, erased_count=3) == "1 of its messages are gone"


async def test_caches_of_the_workspace_are_emptied_and_those_of_others_stay() -> None:
    rows = MemoryRows()
    mine = Partition("w", 0)
    theirs = Partition("other", 0)
    for name in DROPPED:
        await rows.put(Table(name, mine), {"a": {"text": "x"}, "b": {"text": "y"}})
        await rows.put(Table(name, theirs), {"a": {"text": "x"}})
    assert await empty_caches(rows, "w") == dict.fromkeys(DROPPED, 2)
    assert [await rows.scan(Table(name, mine)) for name in DROPPED] == [[]] * len(DROPPED)
    assert [len(await rows.scan(Table(name, theirs))) for name in DROPPED] == [1] * len(DROPPED)


async def test_stores_that_a_move_filled_or_left_are_named_with_the_way_out() -> None:
    values = MemorySharedValues()
    old_stores = {"documents": "sqlite:old", "graph": "bolt://a"}
    new_stores = {"documents": "mongodb://b", "graph": "bolt://b"}
    assert await left_behind(values, old_stores) == []
    for _ in range(2):
        await note_filled(values, old_stores, new_stores)
    (before,), (after,) = (
        await left_behind(values, old_stores),
        await left_behind(values, new_stores),
    )
    assert "mongodb://b, bolt://b" in before and "sqlite:old, bolt://a" in after
    assert "`lightstream rebuild all --to ENV_FILE`" in after


async def test_feedback_and_golden_questions_that_name_it_go_with_it() -> None:
    history = await history_of(DocumentAdded(document_id="d", text="x", file_path="a/Port.md"))
    assert history.names == {"d", "a/port.md", "port.md"}
    documents = [
        (CitedDocument(id="d"), True),
        (CitedDocument(file_path="port.md"), True),
        (CitedDocument(id="e", file_path="b/other.md"), False),
    ]
    for document, is_named in documents:
        feedback = FeedbackGiven(rating="up", question="Who?", documents=(document,))
        assert names_document(feedback, history.names, ()) is is_named

    def golden(*documents: str, feedback: str = "") -> GoldenQuestionSet:
        expectation = GoldenExpectation(facts=("Quill",), documents=documents)
        return GoldenQuestionSet(id="q", question="Who?", expected=expectation, feedback=feedback)

    assert names_document(golden("PORT.md"), history.names, ())
    assert names_document(golden(feedback="f"), history.names, {"f"})
    assert not names_document(golden("other.md"), history.names, {"f"})
    assert not names_document(golden(), history.names, ())
