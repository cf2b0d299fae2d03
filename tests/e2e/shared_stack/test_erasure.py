"""A document is erased: no file of the stack has a word of it, and the stores are as if it had
never been.
"""

import gzip
import json
from pathlib import Path

import pytest

from tests.support.stack import Stack, until
from tests.support.stored_bytes import files_with

CANARY = "Quillfeather"
OTHER = {
    "harbour.txt": (
        "Ada Marlow leads the Harbour Office in Port Elm. Celia Finch works at the Harbour Office."
    )
}
SECRET = (
    "Zephyrine Quillfeather met Ada Marlow in Port Elm. Zephyrine Quillfeather sold the Kestrel "
    "to Celia Finch. "
)
LONG = SECRET * 10 + "and so on, day after day, without any news. " * 5000
"""Too long for an event: it stands beside the log."""


HERE = ("--workspace", "erased")


def ask_about_it(stack: Stack) -> str:
    """Return the answer of whoever answers for the workspace now."""
    return str(stack.json("ask", "Who sold the Kestrel?", *HERE)["response"])


@pytest.fixture(scope="module")
def receipt(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The receipt of the erasure of one of two documents, after questions about it; a client asked
    for it by HTTP. One branch that has answered from it was dropped, and one answers still.
    """
    stack.add(OTHER, "never-erased")
    stack.add({**OTHER, "secret.txt": LONG}, "erased")
    stack.settled(1, "never-erased")
    stack.settled(2, "erased")
    assert CANARY in ask_about_it(stack)
    for name, size in (("gone", "1000"), ("cut", "900")):
        cut = ("branch", "create", name, "--chunk-size", size, "--yes", "--wait")
        assert stack.json(*cut, *HERE)["status_counts"] == {"processed": 2, "all": 2}
        assert stack.json("branch", "promote", name, *HERE)["promoted"] == name
        assert CANARY in ask_about_it(stack)
        if name == "gone":
            stack.json("branch", "rollback", *HERE)
            stack.json("branch", "drop", name, "--yes", *HERE)
    assert CANARY.encode() in LONG.encode()
    assert files_with(stack.folder, CANARY.encode())
    for name in ("graph.aside-20260301T120000Z", "repair-20260301T120000Z"):
        (stack.folder / name).mkdir()
        (stack.folder / name / "copy").write_text(SECRET, "utf-8")
    with stack.service("erased") as service:
        [document] = [
            status.id for status in service.all_documents() if status.file_path == "secret.txt"
        ]
    with stack.client("erased") as client:
        asked = client.post("/operations/erasures", json={"document_ids": [document, "nobody"]})
        assert (asked.status_code, asked.json()) == (
            202,
            {"requested": [document], "unknown": ["nobody"]},
        )
    planned = stack.json("erase", "--requested", "--workspace", "erased")
    assert [(plan["document"], plan["workspace"]) for plan in planned["would_erase"]] == [
        (document, "erased"),
        (document, "erased..cut"),
    ]
    file = tmp_path_factory.mktemp("receipt") / "receipt.json"
    result = stack.run(
        "erase",
        "--requested",
        "--yes",
        "--reason",
        "asked for",
        "--receipt",
        str(file),
        "--workspace",
        "erased",
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}\n{stack.logs()}"
    return json.loads(file.read_text("utf-8"))[0]


def test_no_file_of_the_stack_has_a_word_of_it(stack: Stack, receipt: dict[str, object]) -> None:
    assert files_with(stack.folder, CANARY.encode()) == []


def test_a_backup_that_is_made_now_has_no_word_of_it(
    stack: Stack, receipt: dict[str, object], tmp_path: Path
) -> None:
    stack.json("backup", str(tmp_path / "backup"))
    lines = b"".join(
        gzip.decompress(path.read_bytes()) for path in (tmp_path / "backup").rglob("*.gz")
    )
    assert b"DocumentErased" in lines
    assert CANARY.encode() not in lines
    assert files_with(tmp_path / "backup", CANARY.encode()) == []


def test_receipts_of_answers_that_branches_gave_have_no_word_of_it_and_verify(
    stack: Stack, receipt: dict[str, object]
) -> None:
    receipts = stack.json("receipts", "list", *HERE)
    ids = [receipt_in_list["id"] for receipt_in_list in receipts]
    events = [stack.json("receipts", "show", id, *HERE)["event"] for id in ids]
    assert {event.get("branch", "") for event in events} == {"", "gone", "cut"}
    assert {event["form"] for event in events} == {"erased"}
    assert stack.run("receipts", "verify", *HERE).returncode == 0
    # The branch that was promoted answers on, without it.
    assert CANARY not in ask_about_it(stack)


def test_nothing_is_asked_for_any_more(stack: Stack, receipt: dict[str, object]) -> None:
    with stack.client("erased") as client:
        listed = client.get("/operations/erasures").json()
    assert (listed["requested"], listed["erased"][-1]["receipt"]) == ([], receipt["sha256"])
    result = stack.run("erase", "--requested", "--workspace", "erased")
    assert (result.returncode, "nobody asked" in result.stderr) == (2, True)


def test_the_stores_are_as_if_it_had_never_been(stack: Stack, receipt: dict[str, object]) -> None:
    assert stack.digest("erased") == stack.digest("never-erased")


def test_what_it_shared_with_others_can_still_be_found(
    stack: Stack, receipt: dict[str, object]
) -> None:
    result = stack.run("ask", "Who leads the Harbour Office?", "--workspace", "erased")
    assert (result.returncode, "Ada Marlow" in result.stdout) == (0, True)
    assert [stack.counts(name)["all"] for name in ("erased", "erased..cut")] == [1, 1]


def test_the_log_keeps_hashes_and_the_receipt(stack: Stack, receipt: dict[str, object]) -> None:
    lines = stack.run(
        "log", "--document", "secret.txt", "--workspace", "erased", "--json"
    ).stdout.splitlines()
    assert {json.loads(line)["type"] for line in lines} == {"DocumentErased"}
    assert str(receipt["sha256"]) in lines[-1]
    counts = receipt["counts"]
    assert isinstance(counts, dict)
    assert counts["blobs"] == 2  # and that of the branch
    assert counts["events"] > 10


def test_nobody_takes_what_was_erased_for_lost(stack: Stack, receipt: dict[str, object]) -> None:
    def found_well() -> (
        bool | None
    ):  # the graph store was emptied, and services look for losses every second then
        return stack.run("doctor").returncode == 0 or None

    until(found_well, lambda: stack.run("doctor").stdout)


def test_it_is_not_erased_twice_and_can_be_added_again(
    stack: Stack, receipt: dict[str, object]
) -> None:
    again = stack.run("erase", "secret.txt", "--yes", "--workspace", "erased")
    assert (again.returncode, "erased already" in again.stderr) == (2, True)
    stack.add({"secret.txt": "Nothing of note."}, "erased")
    stack.settled(2, "erased")
    planned = stack.json("erase", "secret.txt", "--workspace", "erased")
    assert planned["would_erase"][0]["types"]["DocumentAdded"] == 1
    assert Path(stack.folder).is_dir()
