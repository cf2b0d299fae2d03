"""An operator's commands over HTTP on a real stack: a rebuild step by step, its health and its
settings.
"""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.stack import Stack, until


def order(api: httpx.Client, step: str, **body: Any) -> dict[str, Any]:
    """Order a step, and return what became of it."""
    ordered = api.post(f"/rebuild/{step}", json=body)
    assert ordered.status_code == 202, ordered.text

    def ended() -> bool:
        order = api.get("/rebuild").json()["last"]
        return (
            order is not None
            and order["id"] == ordered.json()["id"]
            and order["state"] != "running"
        )

    until(ended, lambda: api.get("/rebuild").text)
    return api.get("/rebuild").json()


def generations(api: httpx.Client) -> dict[str, int]:
    return {
        row["projection"]: row["generation"]
        for row in api.get("/projections").json()["projections"]
    }


@pytest.fixture
def api(stack: Stack) -> Any:
    with httpx.Client(base_url=f"{stack.state.api}/operations", timeout=60) as api:
        yield api


def test_an_audit_is_ordered_and_a_backup_only_where_a_folder_is_named(
    stack: Stack, api: httpx.Client
) -> None:
    ordered = api.post("/log/audit", json={"reason": "before the upgrade"})
    assert ordered.status_code == 202, ordered.text

    def ended() -> dict[str, Any] | None:
        audit = api.get("/log/audit").json()["last"]
        return audit if audit and audit["id"] == ordered.json()["id"] and audit["ended"] else None

    audit = until(ended, lambda: api.get("/log/audit").text)
    assert (audit["state"], audit["reason"], audit["result"]["problems"]) == (
        "done",
        "before the upgrade",
        [],
    )
    assert audit["result"].keys() >= {"events", "last", "chained"}
    response = api.post("/log/backup", json={})
    assert (response.status_code, "BACKUP_DIR" in response.text) == (409, True)


def test_a_rebuild_is_ordered_watched_promoted_and_rolled_back_over_http(
    stack: Stack, api: httpx.Client
) -> None:
    stack.add({"operated.txt": "Ada Marlow keeps the log of Port Elm."}, "operated")
    before = generations(api)
    assert (
        api.get("/rebuild/plan?projection=graph").json()["generations"]["graph"] > before["graph"]
    )

    filled = order(api, "start", projection="graph", reason="to see it")
    assert (filled["last"]["state"], filled["last"]["reason"]) == ("done", "to see it")
    assert filled["last"]["result"]["language_model_calls"] == 0
    assert (filled["takes_orders"], generations(api)) == (True, before)

    promoted = order(api, "promote")
    assert (promoted["last"]["state"], promoted["candidate"]) == ("done", None)
    assert generations(api) == {**before, "graph": filled["candidate"]["generations"]["graph"]}

    again = order(api, "promote")
    assert (again["last"]["state"], "no generation waits" in again["last"]["error"]) == (
        "failed",
        True,
    )
    line = json.loads((stack.folder / "commands.log").read_text().splitlines()[-1])
    assert (line["who"], line["what"], line["outcome"]) == (
        again["last"]["who"],
        "rebuild promote",
        2,
    )

    assert order(api, "rollback", projection="graph")["last"]["state"] == "done"
    assert generations(api) == before


def test_new_vectors_are_compared_with_the_live_ones_before_the_switch(
    stack: Stack, api: httpx.Client, tmp_path: Path
) -> None:
    stack.add({"compared.txt": "Tom Elm rings the bell of Port Elm at noon."}, "compared")
    assert stack.settled(1, "compared")["processed"] == 1
    before, questions = generations(api), tmp_path / "questions.txt"
    questions.write_text("Who rings the bell?\n", "utf-8")
    outcome = stack.run("rebuild", "vectors", "--compare", str(questions))
    assert (outcome.returncode, "rebuild start" in outcome.stderr) == (2, True)
    compared = stack.json(
        "rebuild", "start", "vectors", "--compare", str(questions), "--workspace", "compared"
    )["compared"]
    (question,) = compared["questions"]
    assert (
        compared["overlap"],
        question["live"],
        [reference["file_path"] for reference in question["new"]],
    ) == (
        1.0,
        question["new"],
        ["compared.txt"],
    )
    assert (compared["same_answers"], question["answers"]["same"]) == (1, True)
    assert "Tom Elm rings the bell" in question["answers"]["live"]
    assert generations(api) == before
    stack.json("rebuild", "cleanup", "vectors")


@pytest.mark.nightly
def test_answers_that_differ_are_shown_on_both_sides(
    stack: Stack, api: httpx.Client, tmp_path: Path
) -> None:
    stack.add({"bell.txt": "Tom Elm rings the bell of Port Elm at noon."}, "answered")
    assert stack.settled(1, "answered")["processed"] == 1
    until_here = str(stack.json("projections", "list")["projections"][0]["head"])
    stack.add({"bread.txt": "Nell Oak sells bread and honey cakes in Mill Lane."}, "answered")
    assert stack.settled(2, "answered")["processed"] == 2
    questions = tmp_path / "questions.txt"
    questions.write_text("Who rings the bell?\nWho sells bread and honey cakes?\n", "utf-8")
    given = (
        "rebuild",
        "start",
        "all",
        "--to-seq",
        until_here,
        "--compare",
        str(questions),
        "--workspace",
        "answered",
    )
    compared = stack.json(*given)["compared"]
    bell, bread = (question["answers"] for question in compared["questions"])
    assert (compared["same_answers"], bell["same"], bread["same"]) == (1, True, False)
    assert "Nell Oak sells bread" in bread["live"]
    assert "Nell Oak" not in bread["new"]
    stack.json("rebuild", "cleanup", "all")


def test_the_health_and_the_settings_of_a_stack_are_told(stack: Stack, api: httpx.Client) -> None:
    assert api.get("/doctor").json()["healthy"] is True
    settings = {
        setting["names"][0]: setting["value"] for setting in api.get("/settings").json()["settings"]
    }
    assert settings["MAX_UPLOAD_SIZE"] == "1000000"
    assert settings["TOKEN_SECRET"] == "(set, not shown)"
    assert stack.state.bus_password not in settings["NATS_URL"]
