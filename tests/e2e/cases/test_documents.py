"""Documents whose language model misbehaves: a document for each row of docs/providers.md, all
added at once.
"""

import json
from typing import Any

import pytest

from lightstream_rag.documents import Chunking
from lightstream_rag.models import Document
from tests.support.misbehaving_provider import MisbehavingProvider
from tests.support.misbehaving_provider.messages import GHOST, SECRET
from tests.support.misbehaving_provider.refusals import sentence
from tests.support.provider_page import Case, cases
from tests.support.raw_events import history
from tests.support.stack import Stack, ended, until

WORKSPACE = "documents"
REFUSED = cases("A text that is refused")
ODD = cases("An answer in an odd shape")
ROWS = cases("Rows that are no rows")
EMBEDDED = cases("A text that has no embedding")
CASES = [*REFUSED, *ODD, *ROWS, *EMBEDDED]
GOOD = [f"good-{number}.md" for number in range(10)]
PARTIAL = "partial"
REFUSED_PARTS = ("ZZMODERATION", "ZZERROR200", "ZZEMBEDLARGE")
"""Markers of one chunk among three, which the language model or the embedding server refuses."""

SECONDS = 900.0
"""Seconds for all documents: some are tried five times and more, and wait in between."""


def people(word: str) -> list[str]:
    """Return the two names in the document of a case; no other document has them."""
    name = word.removeprefix("ZZ").title()
    return [f"Ada {name}", f"Hector {name}"]


def text(case: Case) -> str:
    first, second = people(case.marker)
    return f"{first} met {second} at the quay. {case.marker}"


def part_name(marker: str) -> str:
    """Return a word that a name may end with, so without digits."""
    return marker.removeprefix("ZZ").rstrip("0123456789").title()


def parts(marker: str) -> str:
    """Return a text of three chunks, of which the second has the marker."""
    name = part_name(marker)
    more = (
        "Every morning the log of the harbour is read aloud, and every ship that lies at the quay "
        "is counted twice."
    )
    sentences = (
        f"Berta {name} keeps ropes.",
        f"Carl {name} boils tar. {marker}",
        f"Dora {name} mends nets.",
    )
    return "\n\n".join(f"{sentence} {more}" for sentence in sentences)


@pytest.fixture(scope="module")
def documents(stack: Stack) -> dict[str, Document]:
    """The documents by name, each of which has come to an end."""
    texts = {f"{case}.md": text(case) for case in CASES}
    texts |= {name: f"{name.removesuffix('.md').title()} Marlow keeps the light." for name in GOOD}
    stack.add(texts, WORKSPACE)
    until(lambda: ended(stack.counts(WORKSPACE), len(texts)), lambda: unfinished(stack), SECONDS)
    with stack.service(WORKSPACE) as service:
        return {document.file_path: document for document in service.all_documents()}


def unfinished(stack: Stack) -> str:
    with stack.service(WORKSPACE) as service:
        names = [
            document.file_path for document in service.all_documents() if not document.is_final
        ]
    return f"unfinished: {names}\n{stack.logs()}"


def extracted(stack: Stack, document: Document) -> list[Any]:
    """Return the entities of a document as the log has them."""
    events = [event["data"] for event in history(stack, document.id, WORKSPACE)]
    of_extraction = [data for data in events if data.type_name() == "EntitiesExtracted"]
    return [entity for data in of_extraction for entity in data.entities]


@pytest.mark.parametrize("case", [*REFUSED, *EMBEDDED], ids=str)
def test_a_refused_text_fails_with_the_providers_own_sentence(
    case: Case, documents: dict[str, Document]
) -> None:
    document = documents[f"{case}.md"]
    assert document.status in ("failed", "partial"), document
    assert document.error_msg
    said = sentence(case.marker)[:60]
    assert said in document.error_msg, document.error_msg


@pytest.mark.parametrize("case", ODD, ids=str)
def test_an_odd_answer_is_read_and_its_reasoning_left_out(
    case: Case, documents: dict[str, Document], stack: Stack
) -> None:
    document = documents[f"{case}.md"]
    assert document.status == "processed", document.error_msg
    entities = extracted(stack, document)
    assert {entity.name for entity in entities} == set(people(case.marker))
    shown = json.dumps([entity.model_dump(mode="json") for entity in entities])
    assert SECRET not in shown and GHOST not in shown and "<|" not in shown


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_rows_in_another_form_are_read_or_said_to_be_missing(
    case: Case, documents: dict[str, Document], stack: Stack
) -> None:
    document = documents[f"{case}.md"]
    names = {entity.name for entity in extracted(stack, document)}
    match case.outcome:
        case "read":
            assert (document.status, names) == ("processed", set(people(case.marker))), document
        case "warns":
            assert (document.status, names) == ("processed", set()), document
            assert document.warnings
        case _:
            assert document.status in ("failed", "partial") and document.error_msg, document


def test_good_documents_are_processed_beside_them(documents: dict[str, Document]) -> None:
    assert {documents[name].status for name in GOOD} == {"processed"}


def by_name(stack: Stack, workspace: str) -> dict[str, Document]:
    with stack.service(workspace) as service:
        return {document.file_path: document for document in service.all_documents()}


def entity_names(stack: Stack, workspace: str) -> set[str]:
    with stack.client(workspace) as client:
        return set(client.get("/graph/label/list").json())


def test_a_refused_chunk_takes_none_of_its_siblings_with_it_and_heals(
    stack: Stack, provider: MisbehavingProvider
) -> None:
    chunking = Chunking(
        strategy="recursive_character",
        params={"chunk_token_size": 50, "chunk_overlap_token_size": 0},
    )
    stack.add({f"{marker}.md": parts(marker) for marker in REFUSED_PARTS}, PARTIAL, chunking)
    stack.settled(len(REFUSED_PARTS), PARTIAL)
    for marker in REFUSED_PARTS:
        document = by_name(stack, PARTIAL)[f"{marker}.md"]
        assert (document.status, document.chunks_count) == ("partial", 3), document
        assert sentence(marker)[:60] in (document.error_msg or ""), document
    names = {marker: part_name(marker) for marker in REFUSED_PARTS}
    siblings = {f"{first} {name}" for name in names.values() for first in ("Berta", "Dora")}
    refused = {f"Carl {names[marker]}" for marker in REFUSED_PARTS}
    assert siblings <= entity_names(stack, PARTIAL)
    # A chunk that only the embedding server refuses is in the graph.
    assert refused & entity_names(stack, PARTIAL) == {f"Carl {names['ZZEMBEDLARGE']}"}
    provider.taken = set(REFUSED_PARTS)
    try:
        stack.json("retry", "--failed", "--yes", "--workspace", PARTIAL)
        until(lambda: stack.counts(PARTIAL).get("processed") == len(REFUSED_PARTS), stack.logs)
    finally:
        provider.taken = set()
    assert siblings | refused <= entity_names(stack, PARTIAL)
    assert not any(document.error_msg for document in by_name(stack, PARTIAL).values())


def test_each_bad_text_was_tried_a_bounded_number_of_times(
    documents: dict[str, Document], provider: MisbehavingProvider
) -> None:
    tries = {str(case): len(provider.asked("extract", case.marker)) for case in CASES}
    assert {marker: count for marker, count in tries.items() if count > 24} == {}


def test_a_text_that_is_too_long_for_the_embedder_is_shortened_with_a_warning(
    stack: Stack, provider: MisbehavingProvider
) -> None:
    long = "The harbour office keeps a log of every ship. " * 110
    provider.set_mode(embeddings="window-500")
    try:
        stack.add({"long.md": long, "short.md": "Celia Finch makes ropes."}, "windows")
        assert stack.settled(2, "windows")["processed"] == 2
    finally:
        provider.set_mode(embeddings="")
    with stack.service("windows") as service:
        warnings = {document.file_path: document.warnings for document in service.all_documents()}
    assert warnings["short.md"] == []
    assert len(warnings["long.md"]) == 1, warnings


def test_a_window_that_is_smaller_than_the_prompt_is_noticed(
    stack: Stack, provider: MisbehavingProvider
) -> None:
    (case,) = cases("A window that is smaller than the prompt")
    provider.set_mode(chat=case.marker)
    try:
        meetings = [f"Celia Narrow met Milo Narrow on day {day}." for day in range(150)]
        stack.add({"narrow.md": " ".join(meetings)}, "narrow")
        assert stack.settled(1, "narrow")["processed"] == 1
        with stack.service("narrow") as service:
            answer = service.query("Whom did Celia Narrow meet?")
            (document,) = service.all_documents()
    finally:
        provider.set_mode(chat="")
    assert answer.prompt_truncated, answer
    assert any("context window" in warning for warning in document.warnings), document
