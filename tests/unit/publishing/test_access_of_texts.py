"""What is published again opens no text to others than those it was for."""

from typing import Any

import pytest

from contracts.access import Access, narrowed
from contracts.access_of_texts import AccessOfTexts
from contracts.events import AccessChanged, DocumentAdded, Event
from publishing.access import access_state, access_statements, change_access
from publishing.documents import add_document, delete_document, restore_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryBlobs, MemoryLog

BOARD = Access(allow=("group:board",))
PRESS = Access(allow=("group:press",))
EVERYONE = Access()


class Publisher:
    """Somebody who publishes one document."""

    def __init__(self) -> None:
        self.log = MemoryLog()

    async def add(self, text: str, access: Access | None = None) -> str:
        draft = DocumentDraft.of(Submission(text=text, file_path="plan.md", access=access))
        addition = await add_document(self.log, MemoryBlobs(), draft, workspace="w", source="tests")
        return addition.document_id

    async def change(self, id: str, access: Access | None) -> bool:
        change = await change_access(self.log, workspace="w", id=id, access=access, source="tests")
        return change is not None and change.is_new

    async def texts(self, id: str) -> AccessOfTexts:
        return access_state(await access_statements(self.log, "w", id)).texts

    @property
    def events(self) -> list[Event]:
        return [decode(message.data, message.subject).data for message in self.log.messages]

    async def restore(self, place: int) -> Access | None:
        """Publish a text again; who may see it then."""
        event = self.events[place]
        assert isinstance(event, DocumentAdded)
        await restore_document(self.log, workspace="w", event=event, source="tests")
        restored_event = self.events[-1]
        assert isinstance(restored_event, DocumentAdded)
        return restored_event.access


async def test_a_text_that_comes_again_for_more_opens_no_older_one() -> None:
    publisher = Publisher()
    await publisher.add("The old plan.", BOARD)
    id = await publisher.add("The new plan.", PRESS)
    await publisher.add("The new plan.", EVERYONE)
    last_event = publisher.events[-1]
    assert isinstance(last_event, AccessChanged) and last_event.newest_text_only
    texts = await publisher.texts(id)
    assert (texts.access, texts.replaced_lists) == (EVERYONE, {BOARD})
    await publisher.add("The new plan.", EVERYONE)
    assert publisher.events[-1] == last_event


async def test_who_opens_the_document_opens_what_is_left_of_it_too() -> None:
    publisher = Publisher()
    await publisher.add("The old plan.", BOARD)
    id = await publisher.add("The new plan.", EVERYONE)
    assert await publisher.change(id, EVERYONE)
    assert not (await publisher.texts(id)).older_lists
    assert not await publisher.change(id, EVERYONE)


@pytest.mark.parametrize(
    ("old_access", "new_access", "restored_access"),
    [(BOARD, EVERYONE, BOARD), (None, BOARD, BOARD), (BOARD, PRESS, Access(allow=()))],
)
async def test_a_text_that_is_restored_is_for_those_of_both(
    old_access: Any, new_access: Any, restored_access: Any
) -> None:
    for is_deleted in (False, True):
        publisher = Publisher()
        await publisher.add("The old plan.", old_access)
        id = await publisher.add("The new plan.", new_access)
        if is_deleted:
            await delete_document(publisher.log, workspace="w", id=id, source="tests")
        assert await publisher.restore(0) == restored_access
        texts = await publisher.texts(id)
        assert texts.required >= {access for access in (old_access, new_access) if access}


async def test_what_was_said_of_a_text_while_it_stood_counts_when_it_is_restored() -> None:
    publisher = Publisher()
    id = await publisher.add("The old plan.")
    await publisher.change(id, BOARD)
    await publisher.add("The new plan.", EVERYONE)
    assert await publisher.restore(0) == BOARD


def test_two_lists_narrow_each_other() -> None:
    ann_not_bo = Access(allow=("user:ann", "group:board"), deny=("user:bo",))
    assert narrowed(None, BOARD) == narrowed(EVERYONE, BOARD) == narrowed(BOARD, None) == BOARD
    assert narrowed(BOARD, ann_not_bo) == Access(allow=("group:board",), deny=("user:bo",))
    names = tuple(f"user:{number}" for number in range(600))
    groups = tuple(f"group:{number}" for number in range(600))
    assert narrowed(Access(deny=names), Access(deny=groups)) == Access(allow=())
