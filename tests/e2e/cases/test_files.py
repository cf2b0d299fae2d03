"""Files as people have them: what stands in them is found, and what is left out is said."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cases.files import FILES, KEEPER
from tests.support.provider_page import Case, cases
from tests.support.raw_events import history
from tests.support.stack import Stack

WORKSPACE = "files"


@pytest.fixture(scope="module")
def documents(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The documents of the files as their status shows them, by name."""
    folder = tmp_path_factory.mktemp("files")
    for file in FILES.values():
        (folder / file.name).write_bytes(file.data)
    added = stack.json("add", str(folder), "--wait", "--workspace", WORKSPACE)
    assert added["refused"] == []
    return {document["file_path"]: document for document in added["documents"]}


def events(stack: Stack, document: str, kind: str) -> list[Any]:
    """Return a document's events of a kind, as the log has them."""
    shown = history(stack, document, WORKSPACE)
    return [event["data"] for event in shown if event["name"] == kind]


@pytest.mark.parametrize("case", cases("Files"), ids=str)
def test_what_stands_in_a_file_is_read(
    case: Case, documents: dict[str, dict[str, Any]], stack: Stack
) -> None:
    file = FILES[case.marker]
    document = documents[case.marker]
    assert document["status"] == "processed", document
    created = events(stack, document["id"], "ChunksCreated")
    text = "\n".join(chunk.content for data in created for chunk in data.chunks)
    assert [part for part in file.has if part not in text] == [], text
    assert [part for part in file.lacks if part in text] == []
    assert bool(document["warnings"]) or case.outcome == "read"
    extracted = events(stack, document["id"], "EntitiesExtracted")
    names = {entity.name for data in extracted for entity in data.entities}
    assert set(file.names) <= names


def test_there_is_a_row_for_each_file() -> None:
    assert {case.marker for case in cases("Files")} == FILES.keys()


def test_one_name_in_two_spellings_is_one_document(stack: Stack, tmp_path: Path) -> None:
    name = "Übersicht Café.md"
    for form in ("NFC", "NFD"):
        folder = tmp_path / form
        folder.mkdir()
        (folder / unicodedata.normalize(form, name)).write_text(f"{KEEPER} {form}")
        stack.json("add", str(folder), "--wait", "--workspace", "spellings")
    assert stack.counts("spellings")["all"] == 1


def test_a_double_takes_no_place_and_is_named(stack: Stack) -> None:
    text = "The ferry Ottilie crosses to Saint Brannock twice a day."
    stack.add({"ferry.md": text, "ferry (copy).md": text}, "doubles")
    assert stack.settled(2, "doubles")["processed"] == 2
    with stack.client("doubles") as client:
        body = {"query": "Where does the ferry Ottilie cross?", "mode": "naive"}
        found = client.post("/query/data", json=body).json()
    assert len(found["data"]["chunks"]) == 1
    assert "ferry (copy).md" in str(found) and "ferry.md" in str(found)
