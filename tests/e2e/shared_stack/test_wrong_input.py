"""Bad input of every kind on a running stack: a clear answer, and nothing else is harmed."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from contracts.subjects import subject
from tests.support.raw_events import (
    DeadLetter,
    added,
    dead_letters,
    history,
    publish,
    publish_added,
)
from tests.support.stack import Stack, unacknowledged, until

MiB = 1024 * 1024
WORKSPACE = "bad"
BOTH = frozenset({"chunker", "query-status"})
"""Consumers that read every DocumentAdded."""


@dataclass(frozen=True)
class Case:
    """A bad message, and what is to become of it."""

    document: str
    data: bytes
    reason: str
    by: frozenset[str] = BOTH
    event_type: str = "DocumentAdded"
    named: bool = True
    """Whether a StageFailed event can tell whose history it is."""


def bad(document: str, reason: str, by: frozenset[str] = BOTH, **attributes: Any) -> Case:
    return Case(
        document,
        json.dumps(added(document, **{"workspace": WORKSPACE, **attributes})).encode(),
        reason,
        by,
    )


def body(document: str, **fields: Any) -> dict[str, Any]:
    return {"document_id": document, "file_path": f"{document}.txt", **fields}


MISSING_BLOB = {"sha256": "0" * 64, "size": 5, "parts": 1}
CASES = {
    "invalid JSON": Case("bad-json", b'{"specversion": "1.0", "id": ', "not JSON"),
    "not an object": Case("bad-list", b"[1, 2]", "not a JSON object"),
    "no UTF-8": Case("bad-bytes", b"\xff\xfe\x00{}", "not JSON"),
    "an unknown type": Case(
        "bad-unknown",
        json.dumps(added("bad-unknown", WORKSPACE, type="lightstream.Nonsense.v1")).encode(),
        "unknown event type Nonsense",
        frozenset({"query-status"}),
        "Nonsense",
    ),
    "a type that is not the subject's": bad(
        "bad-subject", "on a subject of", type="lightstream.DocumentDeleted.v1"
    ),
    "version 0": bad(
        "bad-zero", "lightstream.DocumentAdded.v0", type="lightstream.DocumentAdded.v0"
    ),
    "a bad type string": bad("bad-type", "is not of the form", type="com.example.something"),
    "another workspace than its subject's": Case(
        "bad-workspace",
        json.dumps(added("bad-workspace", "another")).encode(),
        "differs from the subject's",
        named=False,
    ),
    "another document than its subject's": Case(
        "bad-document",
        json.dumps(added("somebody-else", WORKSPACE)).encode(),
        "differs from the subject's",
    ),
    "no id": bad("bad-no-id", "id: Field required", id=None),
    "no source": bad("bad-no-source", "source: Field required", source=None),
    "no type": bad("bad-no-type", "type: Field required", type=None),
    "no workspace": bad("bad-no-workspace", "workspace: Field required", workspace=None),
    "no data": bad("bad-no-data", "data: must be a JSON object", data=None),
    "neither text nor blob": bad("bad-no-text", "exactly one of", data=body("bad-no-text")),
    "overlap not under size": bad(
        "bad-overlap",
        "must be smaller than size",
        data=body("bad-overlap", text="Some text.", chunking={"size": 10, "overlap": 10}),
    ),
    "a blank text": bad(
        "bad-blank", "the text is empty", frozenset({"chunker"}), data=body("bad-blank", text=" \n")
    ),
    "a blob that does not exist": bad(
        "bad-blob",
        "is not in KB_BLOBS",
        frozenset({"chunker"}),
        data=body("bad-blob", blob=MISSING_BLOB),
    ),
}


@pytest.fixture(scope="module")
def sent(stack: Stack) -> dict[str, int]:
    """Every bad message with a good document behind it; the place of each in the log."""
    messages: list[tuple[str, bytes]] = []
    for case in CASES.values():
        good = f"good-after-{case.document}"
        messages.append((subject(WORKSPACE, case.document, case.event_type), case.data))
        messages.append(
            (subject(WORKSPACE, good, "DocumentAdded"), json.dumps(added(good, WORKSPACE)).encode())
        )
    return dict(zip(CASES, publish(stack, messages)[::2], strict=True))


@pytest.fixture(scope="module")
def letters(stack: Stack, sent: dict[str, int]) -> list[DeadLetter]:
    """KB_DEAD, once everything is in it."""
    wanted = {(sent[name], durable) for name, case in CASES.items() for durable in case.by}

    def found() -> list[DeadLetter] | None:
        letters = dead_letters(stack)
        return (
            letters if wanted <= {(letter.sequence, letter.durable) for letter in letters} else None
        )

    return until(found, stack.logs)


@pytest.mark.parametrize("name", CASES)
def test_a_bad_event_is_kept_raw_with_the_reason(
    letters: list[DeadLetter], sent: dict[str, int], name: str
) -> None:
    of_case = [letter for letter in letters if letter.sequence == sent[name]]
    case = CASES[name]
    assert {letter.durable for letter in of_case} == case.by
    for letter in of_case:
        assert letter.data == case.data
        assert case.reason in letter.reason
        assert letter.subject.split(".")[-2:] == [case.document, case.event_type]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.named])
def test_a_bad_event_is_a_failure_of_its_document(
    stack: Stack, letters: list[DeadLetter], name: str
) -> None:
    case = CASES[name]
    events = until(
        lambda: [
            e["data"]
            for e in history(stack, case.document, WORKSPACE)
            if e["name"] == "StageFailed"
        ],
        stack.logs,
    )
    assert {event.cause_type for event in events} == {case.event_type}
    assert all(case.reason in event.message and not event.retry_may_help for event in events)

    shown = until(
        lambda: failed(stack.json("status", case.document, "--workspace", WORKSPACE)), stack.logs
    )
    assert case.reason in shown["error_msg"]


def failed(status: dict[str, Any]) -> dict[str, Any] | None:
    return status if status["status"] == "failed" else None


def test_the_reason_is_readable_by_people(stack: Stack, letters: list[DeadLetter]) -> None:
    shown = stack.run("status", "bad-overlap", "--workspace", WORKSPACE).stdout
    assert "failed" in shown
    assert "overlap 10 must be smaller than size 10" in shown
    assert (
        "overlap 10 must be smaller than size 10"
        in stack.run("log", "--document", "bad-overlap", "--workspace", WORKSPACE).stdout
    )


def test_a_workspace_nobody_may_name_gets_no_document(
    stack: Stack, letters: list[DeadLetter]
) -> None:
    assert stack.counts("another")["all"] == 0
    assert stack.run("status", "bad-workspace", "--workspace", WORKSPACE).returncode == 2


def test_the_good_documents_between_them_are_processed(
    stack: Stack, letters: list[DeadLetter]
) -> None:
    def processed() -> bool:
        return stack.counts(WORKSPACE)["processed"] == len(CASES)

    until(processed, lambda: f"{stack.counts(WORKSPACE)}\n{stack.logs()}")
    assert stack.counts(WORKSPACE)["failed"] == sum(case.named for case in CASES.values())


def test_a_bad_event_does_not_harm_a_document_that_is_there(stack: Stack) -> None:
    publish_added(stack, added("steady", "steady"), "steady", "steady")
    assert stack.settled(1, "steady")["processed"] == 1
    place = publish(stack, [(subject("steady", "steady", "DocumentAdded"), b"not json")])[0]
    until(
        lambda: (
            len([letter for letter in dead_letters(stack) if letter.sequence == place]) == len(BOTH)
        )
    )
    until(lambda: [e for e in history(stack, "steady", "steady") if e["name"] == "StageFailed"])
    assert stack.settled(1, "steady")["processed"] == 1


def test_the_doctor_speaks_of_what_was_set_aside(stack: Stack, letters: list[DeadLetter]) -> None:
    outcome = stack.run("doctor", "--workspace", WORKSPACE)
    assert outcome.returncode == 1
    # Each is one, however many durables have set it aside; and it is history, not a fault.
    number = len({letter.sequence for letter in dead_letters(stack)})
    assert number >= len(CASES)
    assert f"note  {number} messages were set aside for good, the last on 20" in outcome.stdout
    assert "documents failed" in outcome.stdout
    assert "may be down" not in outcome.stdout


TOO_LONG = b'{"text": "' + b"word " * (26 * MiB) + b'"}'
LONG = b'{"text": "' + b"word " * (13 * MiB) + b'"}'
REQUESTS: dict[str, tuple[str, bytes, int, str]] = {
    "an empty text": ("text", b'{"text": ""}', 422, "at least 1 character"),
    "a blank text": ("text", b'{"text": " \\n\\t "}', 422, "the text is empty"),
    "control characters only": ("text", b'{"text": "\\u0000\\u0001"}', 422, "the text is empty"),
    "a lone surrogate": ("text", b'{"text": "\\ud800"}', 422, "unicode"),
    "a lone surrogate inside": ("text", b'{"text": "Ada \\ud800 Marlow"}', 422, "unicode"),
    "a lone surrogate among texts": ("texts", b'{"texts": ["\\udfff"]}', 422, "are empty"),
    "more than 129 MB": ("text", TOO_LONG, 413, "135,266,304"),
    "more text than is taken": (
        "text",
        LONG,
        422,
        "at most 67,108,864 are taken: split the document",
    ),
    "a number": ("text", b'{"text": 5}', 422, "valid string"),
    "a text for a list": ("texts", b'{"texts": "abc"}', 422, "valid list"),
    "fewer names than texts": (
        "texts",
        b'{"texts": ["a", "b"], "file_sources": ["a"]}',
        422,
        "as many file_sources",
    ),
    "no field": ("text", b"{}", 422, "Field required"),
    "a list": ("text", b"[]", 422, "valid dictionary"),
    "no JSON": ("text", b"hello", 422, "JSON decode error"),
    "bytes": ("text", b"\xff\xfe\x00", 400, "error parsing the body"),
    "a page beyond all numbers": (
        "paginated",
        b'{"page": 99999999999999999999}',
        422,
        "less than or equal",
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_bad_request_is_answered_with_its_cause(stack: Stack, name: str) -> None:
    path, content, status, says = REQUESTS[name]
    with stack.client("http") as client:
        answer = client.post(
            f"/documents/{path}", content=content, headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == status, answer.text[:500]
    assert says in answer.text
    assert stack.counts("http")["all"] == 0


def test_a_text_with_a_lone_surrogate_among_others_loses_only_that(stack: Stack) -> None:
    with stack.client("surrogate") as client:
        content = (
            b'{"texts": ["Ada Marlow \\ud800 sailed to Port Elm."], "file_sources": '
            b'["\\ud800name.txt"]}'
        )
        answer = client.post(
            "/documents/texts", content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 200, answer.text
        assert stack.settled(1, "surrogate")["processed"] == 1
        asked = client.post(
            "/query",
            content=(
                b'{"query": "Who sailed?", "ll_keywords": ["Ada \\ud800"], "hl_keywords": '
                b'["\\udfff"]}'
            ),
            headers={"Content-Type": "application/json"},
        )
    assert asked.status_code == 200, asked.text
    assert asked.json()["references"][0]["file_path"] == "name.txt"


def test_nothing_is_left_unacknowledged(stack: Stack, letters: list[DeadLetter]) -> None:
    until(
        lambda: all(left == (0, 0) for left in unacknowledged(stack).values()),
        lambda: str(unacknowledged(stack)),
    )


def test_an_event_of_newer_code_waits_and_holds_nobody_up(
    stack: Stack, letters: list[DeadLetter]
) -> None:
    # The last test: the event waits for a deployment that never comes.
    before = len(dead_letters(stack))
    publish_added(
        stack, added("newer", WORKSPACE, type="lightstream.DocumentAdded.v99"), "newer", WORKSPACE
    )

    outcome = stack.run(
        "add",
        "-",
        "--name",
        "later.txt",
        "--wait",
        "--json",
        "--workspace",
        WORKSPACE,
        stdin="Celia Finch sold salt.",
    )

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    until(lambda: set(unacknowledged(stack).values()) == {(0, 0)})
    assert len(dead_letters(stack)) == before
    told = stack.run("doctor", "--workspace", WORKSPACE).stdout
    assert "DocumentAdded v99" in told and "parked, others go on" in told, told
    assert (
        "version 99: newer than this code"
        in stack.run("log", "--document", "newer", "--workspace", WORKSPACE).stdout
    )
    assert stack.run("status", "newer", "--workspace", WORKSPACE).returncode == 2
