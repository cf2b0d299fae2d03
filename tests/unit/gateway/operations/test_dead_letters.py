"""Dead letters over HTTP: whose they are, who may touch them, and what is written down of that."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from contracts.events import StageFailed
from tests.support.access import READER, SEVERAL, WRITER, behind, client, keyed
from tests.support.events import added, sealed
from tests.support.operations import MemoryDeadLetters, letter, memory_operations
from tests.support.querying import QueryHarness

FAILED = StageFailed(
    document_id="port",
    stage="chunker",
    cause_type="DocumentAdded",
    error_type="Poison",
    message="no text",
    attempt=1,
    retry_may_help=True,
)
REDRIVE = "/operations/dead_letters/redrive"
DROP = "/operations/dead_letters/drop"


def harness_with(*letters: Any) -> QueryHarness:
    return QueryHarness(operations=memory_operations(*letters))


def left(harness: QueryHarness) -> list[int]:
    letters = harness.operations.dead_letters
    assert isinstance(letters, MemoryDeadLetters)
    return list(letters.letters)


async def test_letters_are_listed_newest_first_of_one_stage_and_a_page_of_them() -> None:
    harness = harness_with(letter(1), letter(2, "merger-extents"), letter(3))
    async with client(harness.app()) as api:
        all_of_them = (await api.get("/operations/dead_letters?limit=2")).json()
        merger = (await api.get("/operations/dead_letters?stage=merger")).json()
        assert (await api.get("/operations/dead_letters?stage=cook")).status_code == 422
    assert (
        [dead_letter["number"] for dead_letter in all_of_them["dead_letters"]],
        all_of_them["total"],
    ) == (
        [3, 2],
        3,
    )
    assert merger["dead_letters"] == [
        {
            "number": 2,
            "at": "2026-03-01T12:00:00Z",
            "stage": "merger",
            "consumer": "merger-extents",
            "reason": "no text",
            "sequence": 7,
            "subject": "kb.v1.w.port.DocumentAdded",
        }
    ]


async def test_letters_of_other_workspaces_are_as_if_they_were_not_there() -> None:
    harness = harness_with(letter(1), letter(2, workspace="secret"))
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), WRITER, "w") as api:
        page = (await api.get("/operations/dead_letters")).json()
        assert [dead_letter["number"] for dead_letter in page["dead_letters"]] == [1]
        assert (await api.get("/operations/dead_letters/2")).status_code == 404
        assert (await api.post(DROP, json={"numbers": [1, 2]})).status_code == 404
        assert (await api.get("/operations/dead_letters?all_workspaces=true")).status_code == 403
        assert (
            await api.post(f"{DROP}?all_workspaces=true", json={"numbers": [2]})
        ).status_code == 403
    assert left(harness) == [1, 2]


async def test_who_may_all_workspaces_sees_those_of_all() -> None:
    harness = harness_with(letter(1), letter(2, workspace="other"))
    async with client(harness.app()) as api:
        page = (await api.get("/operations/dead_letters?all_workspaces=true")).json()
        assert (page["total"], (await api.get("/operations/dead_letters/2")).status_code) == (
            2,
            404,
        )
        dead_letter = (await api.get("/operations/dead_letters/2?all_workspaces=true")).json()
    assert (dead_letter["data"], dead_letter["number"]) == ("raw", 2)


async def test_a_reader_reads_and_changes_nothing() -> None:
    harness = harness_with(letter(1))
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER, "w") as api:
        assert (await api.get("/operations/dead_letters/1")).status_code == 200
        for path in (DROP, REDRIVE):
            assert (await api.post(path, json={"numbers": [1]})).status_code == 403
    assert left(harness) == [1]


async def test_a_redriven_letter_is_a_request_in_the_log_and_off_the_list() -> None:
    harness = harness_with(letter(1), letter(2, document="replaced"))
    await harness.log.publish(sealed(added("port"), workspace="w"))
    await harness.log.publish(sealed(FAILED, workspace="w", id="failed"))
    async with client(harness.app()) as api:
        outcome = (await api.post(REDRIVE, json={"numbers": [1, 2], "reason": "mended"})).json()
    assert outcome == {"redriven": [1], "obsolete": [2]}
    assert left(harness) == [2]
    assert harness.log.messages[-1].subject == "kb.v1.w.port.RetryRequested"
    assert b'"reason":"mended"' in harness.log.messages[-1].data


@pytest.mark.parametrize("consumer", ["query-status", "cook"])
async def test_a_letter_that_no_retry_helps_stays_and_the_answer_says_why(consumer: str) -> None:
    harness = harness_with(letter(1, consumer))
    async with client(harness.app()) as api:
        refusal = await api.post(REDRIVE, json={"numbers": [1]})
    assert (refusal.status_code, left(harness)) == (422, [1])
    assert "rebuild status" in refusal.text or "no service 'cook'" in refusal.text


async def test_the_audit_line_says_which_letters_and_why() -> None:
    harness = harness_with(*(letter(number) for number in range(1, 31)))
    with capture_logs() as lines:
        async with client(harness.app()) as api:
            numbers = list(range(1, 31))
            answer = (
                await api.post(DROP, json={"numbers": numbers, "reason": "nonsense" * 50})
            ).json()
    assert [dead_letter["number"] for dead_letter in answer["dropped"]] == numbers
    (line,) = [line for line in lines if line["event"] == "audit"]
    assert (line["what"], line["who"], line["outcome"]) == (f"POST {DROP}", "anyone", 200)
    assert (line["numbers"], line["reason"]) == (numbers[:20], ("nonsense" * 50)[:200])
    assert left(harness) == []
