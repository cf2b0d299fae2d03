"""What is embedded of a chunk, an entity and a relation."""

import re

from contracts.graph import Entity, Relation
from contracts.ids import entity_vector_id, relation_vector_id, sha256
from knowledge.vector_rows import MAX_EMBEDDED, chunk_row, entity_row, relation_row
from tests.support.events import chunk, document


def test_a_chunk_is_embedded_as_it_is() -> None:
    row = chunk_row(document("d", 7, file_path="d.txt"), chunk("d", 3, "  What it says.\n"))
    assert (row.text, row.text_hash) == ("  What it says.\n", sha256("  What it says.\n"))
    assert (row.names, row.document_id, row.file_path, row.order, row.version) == (
        ("d-chunk-003",),
        "d",
        "d.txt",
        3,
        7,
    )


def test_an_entity_is_embedded_as_its_name_above_its_description() -> None:
    row = entity_row(Entity("Alice", 4, description="She paints"))
    assert (row.id, row.text) == (entity_vector_id("Alice"), "Alice\nShe paints")
    assert (row.names, row.version) == (("Alice",), 4)


def test_a_relation_is_embedded_as_its_keywords_its_ends_and_its_description() -> None:
    row = relation_row(
        Relation("Alice", "Bob", 4, keywords=("art", "love"), description="She paints Bob")
    )
    assert (row.id, row.text) == (
        relation_vector_id("Alice", "Bob"),
        "art,love\tAlice\nBob\nShe paints Bob",
    )
    assert row.names == ("Alice", "Bob")


def test_the_ends_of_a_relation_are_sorted_in_its_id() -> None:
    assert relation_row(Relation("Alice", "Bob", 1)).id == relation_vector_id("Alice", "Bob")


def test_a_description_that_grows_behind_what_is_embedded_need_not_be_embedded_again() -> None:
    long_text = "x" * MAX_EMBEDDED
    assert (
        entity_row(Entity("A", 1, description=long_text)).text_hash
        == entity_row(Entity("A", 2, description=long_text + "<SEP>more")).text_hash
    )


def test_ids_fit_every_store_whatever_a_document_is_called() -> None:
    for name in ("d", "A b/c.pdf", "文書" * 200, "x" * 512):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", chunk_row(document(name), chunk(name)).id)
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", entity_row(Entity(name, 1)).id)
