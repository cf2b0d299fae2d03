"""What is packed is read as it was, takes fewer bytes, and what older programs wrote is read."""

import orjson
import pytest

from contracts.ids import chunk_id, entity_vector_id, relation_vector_id
from runtime.stores.packed_texts import (
    packed_digest,
    packed_id,
    packed_list,
    packed_text,
    unpacked_digest,
    unpacked_id,
    unpacked_list,
    unpacked_text,
)

DOCUMENT = f"doc-{'0a' * 16}"
LONG = "The Ferry Guild of Port Elm was founded that year. " * 5


@pytest.mark.parametrize("text", ["", "short", "Ä" * 50, LONG, LONG * 100, "a\x00b" * 60])
def test_a_text_is_read_as_it_was(text: str) -> None:
    packed = packed_text(text)
    assert unpacked_text(packed) == text
    assert unpacked_text(text) == text
    assert len(packed) <= len(text.encode())


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("",),
        (chunk_id(DOCUMENT, 0),),
        tuple(chunk_id(DOCUMENT, order) for order in (0, 7, 999, 1000, 9999)),
        (chunk_id(DOCUMENT, 10_000),),
        (chunk_id(DOCUMENT, 1), chunk_id("of-somebody", 1)),
        (f"{DOCUMENT}-chunk-0007", f"{DOCUMENT}-chunk-07", f"{DOCUMENT}-chunk-001 "),
        (f"{DOCUMENT.upper()}-chunk-001",),
        (f"{DOCUMENT}-chunk-٠٠١",),
        tuple(f"folder/file-{number}.txt" for number in range(200)),
    ],
)
def test_a_list_is_read_as_it_was(texts: tuple[str, ...]) -> None:
    packed = packed_list(texts)
    assert unpacked_list(packed) == texts
    assert unpacked_list(orjson.dumps(texts).decode()) == texts
    assert len(packed) <= len(orjson.dumps(texts))


def test_a_chunk_of_a_list_takes_less_than_half() -> None:
    chunks = tuple(chunk_id(f"doc-{number:032x}", 0) for number in range(100))
    assert len(packed_list(chunks)) < len(orjson.dumps(chunks)) // 2.5


@pytest.mark.parametrize(
    "id",
    [
        entity_vector_id("Port Elm"),
        relation_vector_id("Port Elm", "The Guild"),
        f"chunk-{'0a' * 20}-0000000001",
        f"ent-{'0A' * 20}",
        "ent-",
        "",
    ],
)
def test_an_id_is_read_as_it_was(id: str) -> None:
    assert unpacked_id(packed_id(id)) == id
    assert unpacked_id(id) == id


@pytest.mark.parametrize("digest", ["0a" * 32, "0A" * 32, "0a" * 31, "", "of no text"])
def test_a_hash_is_read_as_it_was(digest: str) -> None:
    assert unpacked_digest(packed_digest(digest)) == digest
    assert unpacked_digest(digest) == digest
