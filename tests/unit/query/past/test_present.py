"""The past of a large workspace, read from the present, is the past that the log gives from its
beginning.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import pytest

from contracts.chunking import Chunking
from contracts.events import DocumentDeleted, Event
from runtime.bus.memory import MemoryLog
from runtime.errors import Unavailable
from services.query.adapters.contributions import RowContributions
from services.query.errors import TooLarge
from services.query.past import reading, stored_present
from services.query.past.reading import Past
from services.query.past.stored_present import StoredPresent
from services.query.retrieval.caches import name_indexes
from services.query.retrieval.caches.name_indexes import MAX_NAMES
from tests.support.events import added, sealed
from tests.support.past_reading import LIMITS, assert_same_past
from tests.support.pipeline import FollowedLog, workers
from tests.support.querying import QueryHarness
from tests.support.served import served
from tests.support.shares import share
from tests.unit.merger.test_any_order import edit
from tests.unit.operations.test_past_digest import rebuild
from tests.unit.query.past.test_state import recorded

NAMES = ("Ada Marlow", "Bert Fjell", "Celia Stone", "Port Elm", "Tide Mill")


@dataclass
class HandledLog(MemoryLog):
    """A log of which the status projection has handled everything; it notes which documents are
    read.
    """

    read_documents: list[str] = field(default_factory=list[str])

    async def handled(self, *durables: str, workspace: str | None = None) -> int:
        return len(self.messages)

    def history(self, workspace: str, about: str | None, event_type: str, after: int = 0) -> Any:
        if about:
            self.read_documents.append(about)
        return super().history(workspace, about, event_type, after)


@pytest.mark.parametrize("workspace", ["w", "other"])
async def test_each_place_of_the_recorded_log_is_as_its_beginning_gives_it(workspace: str) -> None:
    log = recorded()
    work = rebuild(log)
    await work.run("w")
    handled_log = HandledLog(log.messages)
    present = StoredPresent(
        handled_log, work.stores.rows, RowContributions(work.stores.rows), work.pointers
    )
    for sequence in range(1, len(log.messages) + 1):
        await assert_same_past(present, log, workspace, sequence)


def drawn(dice: Random, sequence: int) -> Event:
    """A document that is added, changed or deleted, or an edit of the graph."""
    kind = dice.choices(("add", "delete", "edit"), (6, 2, 2))[0]
    if kind == "edit":
        return edit(dice, sequence).event
    id = f"d{dice.randrange(4)}"
    if kind == "delete":
        return DocumentDeleted(document_id=id)
    passages = [
        " met ".join(dice.sample(NAMES, 2)) + f" in year {dice.randrange(5)}."
        for _ in range(dice.randint(1, 3))
    ]
    cut = Chunking(size=1200, overlap=100, split_by_character="|")
    return added(id, "|".join(dict.fromkeys(passages)), chunking=cut)


async def world(dice: Random) -> tuple[QueryHarness, HandledLog]:
    """A workspace whose services have got differently far, but for the status projection, which is
    at the end.
    """
    harness = QueryHarness()
    log = harness.log = HandledLog()
    services = workers(harness)
    for number in range(dice.randint(6, 14)):
        await log.publish(sealed(drawn(dice, len(log.messages) + 1), id=f"command-{number}"))
        for _ in range(dice.randint(0, 25)):
            await dice.choice(services).step()
    if dice.random() < 0.5:
        while any([await service.step() for service in services]):
            pass
    while await services[-1].step():
        pass
    return harness, log


@pytest.mark.parametrize("seed", share(range(40), daily=5))
async def test_random_places_of_random_workspaces_are_as_the_beginning_gives_them(
    seed: int,
) -> None:
    dice = Random(seed)
    harness, log = await world(dice)
    present = StoredPresent(log, harness.rows, RowContributions(harness.rows), harness.pointers)
    for sequence in {len(log.messages), *(dice.randint(1, len(log.messages)) for _ in range(5))}:
        await assert_same_past(present, log, "w", sequence)


async def settled_workspace() -> tuple[QueryHarness, HandledLog, int]:
    """Ten documents that are ready, then one that is deleted, one that has a new text, and one that
    is new.
    """
    harness = QueryHarness()
    log = harness.log = HandledLog()
    services = workers(harness)

    async def publish(*events: Event) -> int:
        for event in events:
            await log.publish(sealed(event, id=f"e{len(log.messages)}"))
        while any([await service.step() for service in services]):
            pass
        return len(log.messages)

    then = await publish(
        *(added(f"d{n}", f"Ada Marlow met Bert Fjell of Port {n} in Elm{n}.") for n in range(10))
    )
    addition = added("new", "Celia Stone met Ada Marlow in Tide Mill.")
    await publish(DocumentDeleted(document_id="d0"), added("d1", "Celia Stone left."), addition)
    return harness, log, then


async def test_only_documents_that_have_changed_since_are_read_from_the_log() -> None:
    harness, log, then = await settled_workspace()
    await assert_same_past(
        StoredPresent(log, harness.rows, RowContributions(harness.rows), harness.pointers),
        log,
        "w",
        then,
    )
    assert log.read_documents == ["d0", "d1"]


@pytest.mark.parametrize(
    ("mode", "most_names"),
    [
        *((mode, MAX_NAMES) for mode in ("naive", "local", "global", "hybrid", "mix", "walk")),
        ("walk", 0),
    ],
)
async def test_a_large_past_answers_as_a_small_one(
    mode: str, most_names: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_indexes, "MAX_NAMES", most_names)
    harness, log, then = await settled_workspace()
    body = {
        "query": "Whom did Ada Marlow meet?",
        "mode": mode,
        "as_of": str(then),
        "enable_rerank": False,
    }
    answers: list[Any] = []
    graphs: list[Any] = []
    for limit in (reading.MAX_BYTES, 1):
        monkeypatch.setattr(reading, "MAX_BYTES", limit)
        log.read_documents.clear()
        present = StoredPresent(log, harness.rows, RowContributions(harness.rows), harness.pointers)
        async with (
            served(harness.app(present=present)) as address,
            httpx.AsyncClient(base_url=address, headers={"X-Workspace": "w"}) as api,
        ):
            answer = await api.post("/query/data", json=body)
            assert answer.status_code == 200, answer.text
            answers.append(answer.json())
            graph = await api.get("/graphs", params={"label": "*", "as_of": str(then)})
            graphs.append(graph.json())
    assert log.read_documents == ["d0", "d1"]
    assert answers[0] == answers[1] and answers[0]["data"]["chunks"]
    if mode == "walk":
        (link,) = answers[0]["metadata"]["processing_info"]["linked"]
        assert link["entities"] == ["Ada Marlow"]
    assert graphs[0] == graphs[1] and graphs[0]["nodes"]


async def test_too_many_changes_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    harness, log, then = await settled_workspace()
    monkeypatch.setattr(stored_present, "MAX_CHANGED", 1)
    present = StoredPresent(log, harness.rows, RowContributions(harness.rows), harness.pointers)
    monkeypatch.setattr(reading, "MAX_BYTES", 1)
    past = Past(log, LIMITS, present)
    for _ in range(2):
        with pytest.raises(
            TooLarge, match=r"1 documents that have changed since.* ask of a later moment"
        ):
            await past.of_present("w", then)
    assert log.read_documents == ["d0"]


async def test_a_projection_that_is_behind_the_past_gives_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness, log, _ = await settled_workspace()
    monkeypatch.setattr(stored_present, "HANDLED_SECONDS", 0.0)
    present = StoredPresent(
        FollowedLog(log.messages), harness.rows, RowContributions(harness.rows), harness.pointers
    )
    with pytest.raises(Unavailable, match="ask again"):
        await present.at("w", 3)
