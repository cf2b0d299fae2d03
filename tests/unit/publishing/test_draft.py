"""A draft is checked, encoded and hashed once, however many parts of the way use it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.ids import UNKNOWN_SOURCE, document_id
from contracts.text import INLINE_LIMIT, is_blank, sanitize
from publishing.documents import OtherText, add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import InvalidInput
from tests.support.access import client
from tests.support.long_text_work import long_text_work
from tests.support.querying import QueryHarness

LENGTH = INLINE_LIMIT + 1
LONG = "The lighthouse of Port Elm & its keeper.\n" * (LENGTH // 40)


async def posted(text: str, name: str) -> dict[str, int]:
    """Post a new text, and return what was done with it."""
    harness = QueryHarness()
    async with client(harness.app()) as api:
        body = {"text": text, "file_source": name}
        with long_text_work(LENGTH) as counts:
            answer = await api.post("/documents/text", json=body)
    assert answer.json()["status"] == "success"
    assert len(harness.log.messages) == 1
    return dict(counts)


async def test_a_text_with_a_name_is_never_sanitised_and_hashed_once() -> None:
    counts = await posted(LONG, "port.md")
    assert "sanitize" not in counts
    assert counts["openssl_sha256"] == 1
    assert "openssl_md5" not in counts


async def test_a_text_without_a_name_is_sanitised_once_for_its_id() -> None:
    counts = await posted(LONG, "")
    assert (counts["sanitize"], counts["openssl_sha256"], counts["openssl_md5"]) == (1, 1, 1)


async def test_the_event_loop_neither_sanitises_nor_hashes() -> None:
    counts = await posted(LONG, "")
    on_loop = {name for name in counts if name.endswith("on the loop")}
    assert not {"sanitize on the loop", "clean_text on the loop"} & on_loop
    assert not {"openssl_sha256 on the loop", "openssl_md5 on the loop"} & on_loop


async def test_the_same_long_text_again_is_hashed_once_more_and_stored_no_more() -> None:
    log = MemoryLog()
    blobs = MemoryBlobs()
    submission = Submission(text=LONG, id="d")
    first = await add_document(
        log, blobs, DocumentDraft.of(submission), workspace="w", source="tests"
    )
    with long_text_work(LENGTH) as counts:
        again = await add_document(
            log, blobs, DocumentDraft.of(submission), workspace="w", source="tests"
        )
    assert (first.is_new, again.is_new) == (True, False)
    assert counts["openssl_sha256"] == 1
    assert len(blobs.texts) == 1


def test_the_work_on_a_short_text_is_not_counted() -> None:
    with long_text_work(LENGTH) as counts:
        DocumentDraft.of(Submission(text="short"))
    assert counts == {}


@given(
    st.one_of(st.text(), st.text(alphabet=" \n\t\x00\x1c\x85\xa0&;nbspamp#3210xA\ufffe\U0001fffe"))
)
def test_a_text_is_blank_where_sanitising_leaves_nothing(text: str) -> None:
    assert is_blank(text) == (not sanitize(text))


def test_a_draft_without_folders_has_the_base_name() -> None:
    with_folders = DocumentDraft.of(Submission(text="text", file_path="a/b.md"))
    without = DocumentDraft.of(Submission(text="text", file_path="a/b.md", without_folders=True))
    assert [with_folders.event.file_path, without.event.file_path] == ["a/b.md", "b.md"]
    assert with_folders.id == without.id == document_id("", "b.md")
    only_folders = Submission(text="text", file_path="a/", without_folders=True)
    assert DocumentDraft.of(only_folders).event.file_path == UNKNOWN_SOURCE


def test_a_folder_that_is_left_out_must_be_a_name_too() -> None:
    with pytest.raises(InvalidInput, match="not the name of a document"):
        DocumentDraft.of(Submission(text="text", file_path="a\n/b.md", without_folders=True))


def test_a_short_text_stands_in_the_event() -> None:
    draft = DocumentDraft.of(Submission(text="Port Elm", id="d"))
    assert draft.event_of("d", None) == draft.event
    assert not draft.is_long


async def test_a_draft_that_replaces_nothing_is_refused_where_there_is_another_text() -> None:
    log = MemoryLog()
    blobs = MemoryBlobs()

    async def add(text: str, *, replaces: bool) -> bool:
        draft = DocumentDraft.of(Submission(text=text, id="d", replaces=replaces))
        return (await add_document(log, blobs, draft, workspace="w", source="tests")).is_new

    assert await add("one", replaces=False)
    assert not await add("one", replaces=False)
    with pytest.raises(OtherText, match="another document of the id d"):
        await add("two", replaces=False)
    assert await add("two", replaces=True)
    assert len(log.messages) == 2


def test_what_the_log_could_not_take_is_refused_before_the_log_is_asked() -> None:
    with pytest.raises(InvalidInput, match="document_id: String should have at most 512"):
        DocumentDraft.of(Submission(text="text", id="d" * 513))
    with pytest.raises(InvalidInput, match="must not go back"):
        DocumentDraft.of(Submission(text=LONG, pages=(3, 1)))
