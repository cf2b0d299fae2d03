"""The contract of the bus about texts beside the log, in memory and on a real server."""

import asyncio

import pytest

from contracts import subjects
from contracts.events import DocumentAdded
from contracts.ids import sha256
from contracts.values import BlobRef
from runtime.bus.codec import decode, encode
from runtime.bus.encoded_text import BLOB_PART, EncodedText
from runtime.errors import Poison
from tests.support.buses import Bus
from tests.support.events import sealed

pytestmark = pytest.mark.asyncio(loop_scope="module")


def encoded_with(ref: BlobRef) -> tuple[bytes, str]:
    """A document of workspace w with this reference, and its subject."""
    envelope = sealed(DocumentAdded(document_id="d", blob=ref))
    return encode(envelope), subjects.subject("w", "d", "DocumentAdded")


@pytest.mark.parametrize(
    "text", ["", "short", "ä" * 1_500_000, "x" * BLOB_PART, "x" * (BLOB_PART + 1)], ids=len
)
async def test_a_text_is_kept_under_its_hash(bus: Bus, text: str) -> None:
    ref = await bus.blobs.put(EncodedText.of(text), "w")
    size = len(text.encode())
    parts = max(1, -(-size // BLOB_PART))
    assert ref == BlobRef(sha256=sha256(text), size=size, parts=parts, place=f"w.{sha256(text)}")
    assert await bus.blobs.get(ref) == text
    assert b"".join(await bus.blobs.parts(ref)) == text.encode()


async def test_a_text_of_one_workspace_is_not_among_those_of_another(bus: Bus) -> None:
    first = await bus.blobs.put(EncodedText.of("text"), "w")
    second = await bus.blobs.put(EncodedText.of("text"), "Team B")
    assert first.key != second.key
    assert [await bus.blobs.get(ref) for ref in (first, second)] == ["text", "text"]
    with pytest.raises(Poison, match="not among those of the event's workspace"):
        decode(*encoded_with(second))


async def test_a_text_that_an_older_version_stored_under_its_hash_alone_is_read(bus: Bus) -> None:
    ref = await bus.store_under_hash("older")
    assert ref.place is None
    assert await bus.blobs.get(ref) == "older"
    envelope = decode(*encoded_with(ref))
    assert isinstance(envelope.data, DocumentAdded)
    assert envelope.data.blob == ref


async def test_a_text_that_is_kept_twice_is_kept_once(bus: Bus) -> None:
    text = "ä" * BLOB_PART
    refs = [
        await bus.blobs.put(EncodedText.of(text), "w"),
        *await asyncio.gather(*(bus.blobs.put(EncodedText.of(text), "w") for _ in range(3))),
    ]
    assert len(set(refs)) == 1
    assert await bus.blobs.get(refs[0]) == text


async def test_a_text_of_which_a_part_is_missing_is_poison(bus: Bus) -> None:
    ref = await bus.blobs.put(EncodedText.of("text"), "w")
    with pytest.raises(Poison, match=f"part 1 of blob {ref.sha256}"):
        await bus.blobs.get(ref.model_copy(update={"parts": 2}))
    with pytest.raises(Poison, match="part 0"):
        await bus.blobs.get(BlobRef(sha256=sha256("never put"), size=1, parts=1))


async def test_a_text_cut_short_by_its_reference_is_poison(bus: Bus) -> None:
    ref = await bus.blobs.put(EncodedText.of("x" * (BLOB_PART + 1)), "w")
    with pytest.raises(Poison, match="hash"):
        await bus.blobs.get(ref.model_copy(update={"parts": 1}))


async def test_a_text_that_is_not_the_one_of_its_name_is_poison(bus: Bus) -> None:
    ref = await bus.forge("what was said", "something else")
    with pytest.raises(Poison, match="hash"):
        await bus.blobs.get(ref)
    with pytest.raises(Poison, match="does not have the hash of its name"):
        await bus.blobs.parts(ref)


@pytest.mark.parametrize("content", ["something else", ""])
async def test_a_text_replaces_what_somebody_put_under_its_name(bus: Bus, content: str) -> None:
    ref = await bus.forge("what was said", content)
    assert await bus.blobs.put(EncodedText.of("what was said"), "w") == ref
    assert await bus.blobs.get(ref) == "what was said"


async def test_a_text_put_by_many_at_once_over_a_forged_one_stands(bus: Bus) -> None:
    ref = await bus.forge("what was said", "something else")
    await asyncio.gather(*(bus.blobs.put(EncodedText.of("what was said"), "w") for _ in range(8)))
    assert await bus.blobs.get(ref) == "what was said"
