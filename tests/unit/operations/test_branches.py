"""A branch follows its origin: whatever happens there, in whatever steps it is copied, and whoever
begins to copy anew.
"""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.access import Access
from contracts.chunking import Chunking
from contracts.envelope import wrap
from contracts.events import (
    AccessChanged,
    BranchCreated,
    BranchDropped,
    BranchPromoted,
    BranchSettings,
    DocumentAdded,
    DocumentDeleted,
    Event,
    GraphEdited,
)
from contracts.ids import branch_workspace, sha256
from publishing.access import change_access
from publishing.branch_copies import BranchCopier, BranchFollower
from runtime.branches import Branch, branch_settings, read_branch, read_branches
from runtime.bus.codec import decode
from runtime.bus.encoded_text import EncodedText
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import InvalidInput
from services.gateway.promoted_branches import PromotedBranches
from tests.support.shares import share

ORIGIN = "w"
SETTINGS = BranchSettings(chunking=Chunking(size=600))
LEGAL = Access(allow=("group:legal",))


class Origin:
    """A workspace, and a branch of it."""

    def __init__(self, sampled_up_to: str = "") -> None:
        self.log, self.blobs = MemoryLog(), MemoryBlobs()
        self.sampled_up_to = sampled_up_to
        self.count = 0

    async def say(self, event: Event, workspace: str = ORIGIN) -> int:
        self.count += 1
        at = datetime(2026, 3, 14, tzinfo=UTC).replace(microsecond=self.count)
        return await self.log.publish(
            wrap(event, id=f"e{self.count}", source="test", workspace=workspace, time=at)
        )

    async def branch(self) -> Branch:
        created = BranchCreated(
            name="b", origin=ORIGIN, settings=SETTINGS, sampled_up_to=self.sampled_up_to
        )
        await self.say(created, branch_workspace(ORIGIN, "b"))
        return await read_branch(self.log, ORIGIN, "b")

    async def events(self, workspace: str) -> list[Any]:
        return [
            decode(message.data, message.subject).data
            async for page in self.log.read(0)
            for message in page
            if decode(message.data, message.subject).workspace == workspace
        ]

    async def contents(self, workspace: str) -> dict[str, tuple[str, Access | None]]:
        """Return text and access of each document that is there, as the log tells it."""
        texts: dict[str, str] = {}
        access: dict[str, Access | None] = {}
        for event in await self.events(workspace):
            match event:
                case DocumentAdded():
                    texts[event.document_id] = event.text or ""
                    access[event.document_id] = event.access or access.get(event.document_id)
                case AccessChanged():
                    access[event.document_id] = event.access
                case DocumentDeleted():
                    texts.pop(event.document_id, None)
                    access.pop(event.document_id, None)
                case _:
                    pass
        return {id: (text, access[id]) for id, text in texts.items()}


def chance(random_numbers: random.Random, number: int) -> Event:
    id = random_numbers.choice("abcd")
    access = random_numbers.choice([None, None, LEGAL, Access(deny=("user:bo",))])
    return random_numbers.choice(
        [
            DocumentAdded(document_id=id, text=f"text {number}", access=access),
            DocumentAdded(document_id=id, text=f"text {number}"),
            AccessChanged(document_id=id, access=access),
            DocumentDeleted(document_id=id),
        ]
    )


@pytest.mark.parametrize("seed", share(range(200), daily=20))
async def test_it_holds_what_its_origin_holds_in_whatever_steps_it_is_copied(seed: int) -> None:
    random_numbers = random.Random(seed)
    origin = Origin()
    for number in range(random_numbers.randrange(20)):
        await origin.say(chance(random_numbers, number))
    branch = await origin.branch()
    copier = BranchCopier(origin.log, origin.blobs, branch)
    for number in range(100, 100 + random_numbers.randrange(25)):
        await origin.say(chance(random_numbers, number))
        if random_numbers.random() < 0.4:
            await copier.copy_new()
        if random_numbers.random() < 0.2:  # another process begins to copy
            copier = BranchCopier(origin.log, origin.blobs, branch)
    await BranchCopier(origin.log, origin.blobs, branch).copy_new()
    assert await origin.contents(branch.workspace) == await origin.contents(ORIGIN)
    assert await BranchCopier(origin.log, origin.blobs, branch).copy_new() == 0


async def test_older_versions_and_what_has_gone_are_not_paid_for() -> None:
    origin = Origin()
    for event in (
        DocumentAdded(document_id="a", text="old", access=LEGAL),
        DocumentAdded(document_id="gone", text="gone"),
        DocumentDeleted(document_id="gone"),
        DocumentAdded(document_id="a", text="new"),
    ):
        await origin.say(event)
    branch = await origin.branch()
    assert await BranchCopier(origin.log, origin.blobs, branch).copy_new() == 1
    assert (await origin.events(branch.workspace))[1:] == [
        DocumentAdded(document_id="a", text="new", access=LEGAL, chunking=SETTINGS.chunking)
    ]


async def test_a_long_text_and_an_original_stand_among_those_of_the_branch() -> None:
    origin = Origin()
    ref = await origin.blobs.put(EncodedText.of("long"), ORIGIN)
    original = await origin.blobs.put(EncodedText.of("file"), ORIGIN)
    await origin.say(DocumentAdded(document_id="a", blob=ref, original=original))
    branch = await origin.branch()
    await BranchCopier(origin.log, origin.blobs, branch).copy_new()
    copied = (await origin.events(branch.workspace))[-1]
    assert copied.blob.sha256 == ref.sha256
    assert await origin.blobs.get(copied.blob) == "long"
    assert await origin.blobs.get(copied.original) == "file"
    assert copied.original.key != original.key


async def test_of_later_documents_a_sample_takes_its_share() -> None:
    ids = [f"doc-{number}" for number in range(40)]
    hashes = sorted(map(sha256, ids))
    origin = Origin(sampled_up_to=hashes[9])
    branch = await origin.branch()
    for id in ids:
        await origin.say(DocumentAdded(document_id=id, text="text"))
    assert await BranchCopier(origin.log, origin.blobs, branch).copy_new() == 10


async def test_an_undone_edit_is_undone_in_the_branch() -> None:
    origin = Origin()
    edit = GraphEdited(operation="delete_entity", names=("Ada",))
    await origin.say(DocumentAdded(document_id="a", text="text"))
    sequence = await origin.say(edit)
    branch = await origin.branch()
    copier = BranchCopier(origin.log, origin.blobs, branch)
    await copier.copy_new()
    await origin.say(GraphEdited(operation="undo_edit", names=("Ada",), undoes=sequence))
    await copier.copy_new()
    edit_copy, undoing = (await origin.events(branch.workspace))[-2:]
    assert edit_copy == edit
    message = await origin.log.following(undoing.undoes - 1, "kb.v1.*.*.*")
    assert message is not None
    assert decode(message.data, message.subject).data == edit_copy
    assert undoing.undoes != sequence


async def test_a_branch_has_settings_and_an_end() -> None:
    origin = Origin()
    branch = await origin.branch()
    assert await branch_settings(origin.log, branch.workspace) == SETTINGS
    assert await branch_settings(origin.log, ORIGIN) is None
    assert names(await read_branches(origin.log, ORIGIN)) == ["b"]
    await origin.say(BranchDropped(), branch.workspace)
    assert await read_branches(origin.log, ORIGIN) == []
    with pytest.raises(InvalidInput, match="no branch 'b'"):
        await read_branch(origin.log, ORIGIN, "b")


def names(branches: Sequence[Branch]) -> list[str]:
    return [branch.name for branch in branches]


async def test_the_follower_copies_into_open_branches_and_not_into_dropped_ones() -> None:
    origin = Origin()
    branch = await origin.branch()
    follower = BranchFollower(origin.log, origin.blobs)
    await origin.say(DocumentAdded(document_id="a", text="text"))
    await follower.follow()
    assert (await origin.contents(branch.workspace)).keys() == {"a"}
    await origin.say(BranchDropped(), branch.workspace)
    await origin.say(DocumentAdded(document_id="b", text="text"))
    await follower.follow()
    assert await BranchCopier(origin.log, origin.blobs, branch).copy_new() == 0
    assert (await origin.contents(branch.workspace)).keys() == {"a"}


async def test_who_may_see_a_document_changes_in_branches_before_the_change_is_confirmed() -> None:
    origin = Origin()
    branch = await origin.branch()
    await origin.say(DocumentAdded(document_id="a", text="text"))
    follower = BranchFollower(origin.log, origin.blobs)
    await follower.follow()
    for access in (LEGAL, None):
        await change_access(origin.log, workspace=ORIGIN, id="a", access=access, source="test")
        assert await origin.contents(branch.workspace) == {"a": ("text", access)}
    await follower.follow()
    assert await origin.contents(branch.workspace) == await origin.contents(ORIGIN)


async def test_a_promoted_branch_answers_for_its_origin_until_it_is_rolled_back() -> None:
    origin = Origin()
    branch = await origin.branch()
    for name, answering in (("b", branch.workspace), ("", ORIGIN)):
        await origin.say(BranchPromoted(name=name))
        branches = PromotedBranches(origin.log)
        assert await branches.answering(ORIGIN) == answering
        assert await branches.answering(branch.workspace) == branch.workspace
        assert await branches.answering("v") == "v"
