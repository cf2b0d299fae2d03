"""A fold of the log in memory is what the services make of it, at every place of the log."""

import json
from dataclasses import asdict
from random import Random
from typing import Any

import pytest

from contracts.events import DescriptionSummarized, GraphEdited, StageFailed
from contracts.graph import Generations, Partition
from knowledge.descriptions import Group, SummaryLimits
from operations.digest import Stores, digest
from runtime.bus.memory import MemoryLog
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.vectors.memory import MemoryVectors
from services.query.errors import TooLarge
from services.query.past import events as past_events
from services.query.past.events import WorkspaceEvents
from services.query.past.reading import Past
from services.query.past.state import PastState, state_at
from tests.support.events import delivered, document, entity, extracted
from tests.support.merging import Merger
from tests.support.shares import share
from tests.unit.merger.test_any_order import Log, events, history, picture
from tests.unit.operations.test_recorded_digests import DIGESTS, EVENTS

LIMITS = SummaryLimits()


def noted(log: Log) -> WorkspaceEvents:
    events = WorkspaceEvents("w")
    for delivery in log:
        events.note(delivery)
    return events


def shown(state: PastState) -> dict[Any, dict[str, Any]]:
    """The state as `Merger.picture` shows a graph."""
    elements: list[tuple[Any, Any]] = [*state.entities.items(), *state.relations.items()]
    return {
        key: {n: v for n, v in asdict(element).items() if n != "revision"}
        for key, element in elements
    }


def undoings(dice: Random, log: Log) -> Log:
    """Undo some of the edits, and some of the undoings."""
    edits = [
        (delivery.sequence, delivery.event)
        for delivery in log
        if isinstance(delivery.event, GraphEdited)
    ]
    undos: Log = []
    for number in range(dice.randint(0, len(edits))):
        sequence, edit = dice.choice(edits)
        undo = GraphEdited(
            operation="undo_edit", names=edit.names, target=edit.target, undoes=sequence
        )
        edits.append((2000 + number, undo))
        undos.append(delivered(undo, 2000 + number))
    return undos


@pytest.mark.parametrize("seed", share(range(40), daily=5))
async def test_the_state_is_the_graph_that_the_merger_makes_in_any_order(seed: int) -> None:
    dice = Random(seed)
    log = events(history(dice, edits=dice.choice([0, 2, 4, 8])))
    log += undoings(dice, log)
    arrivals = log + dice.choices(log, k=len(log) // 3)
    dice.shuffle(arrivals)
    assert shown(state_at(noted(arrivals), 5000, LIMITS)) == await picture(
        Merger(), [arrivals[::2], arrivals[1::2]]
    )


@pytest.mark.parametrize("seed", share(range(12), daily=5))
async def test_at_each_place_the_state_is_that_of_a_log_that_ends_there(seed: int) -> None:
    dice = Random(seed)
    log = events(history(dice, edits=4))
    log += undoings(dice, log)
    noted_events = noted(log)
    for end in dice.sample(sorted({delivery.sequence for delivery in log}), 4):
        before = [delivery for delivery in log if delivery.sequence <= end]
        assert shown(state_at(noted_events, end, LIMITS)) == await picture(Merger(), [before]), end


async def test_a_summary_counts_from_its_place_in_the_log() -> None:
    texts = [f"fragment {number}" for number in range(8)]
    log: Log = [
        delivered(extracted(document("d", 1), order, [entity("A", "thing", text)]), order + 2)
        for order, text in enumerate(texts)
    ]
    inputs = Group(("A",), tuple(texts)).hash
    for sequence, text in ((20, "the first summary"), (30, "a later one")):
        event = DescriptionSummarized(
            key=("A",), inputs_hash=inputs, prompt_version="1", model="m", text=text
        )
        log.append(delivered(event, sequence))
    events = noted(log)
    assert state_at(events, 19, LIMITS).entities["A"].description.startswith("fragment 0")
    assert state_at(events, 40, LIMITS).entities["A"].description == "the first summary"


async def test_a_chunk_that_failed_for_good_no_longer_says_what_its_older_version_said() -> None:
    of_old = document("d", 1)
    of_new = document("d", 10)
    says = extracted(of_old, 0, [entity("A", "thing", "text")])
    failure = StageFailed(
        stage="extractor",
        document_id="d",
        document=of_new,
        chunks=(says.chunk,),
        cause_type="ChunksCreated",
        error_type="Refused",
        message="the provider does not take this text",
        attempt=3,
        retry_may_help=False,
    )
    past = noted([delivered(says, 2), delivered(failure, 12)])
    assert set(state_at(past, 11, LIMITS).entities) == {"A"}
    assert state_at(past, 12, LIMITS).entities == {}


def recorded() -> MemoryLog:
    log = MemoryLog()
    for line in EVENTS.read_text("utf-8").splitlines():
        message = json.loads(line)
        log.append(
            message["subject"],
            json.dumps(message["event"], ensure_ascii=False).encode(),
            message["id"],
        )
    return log


@pytest.mark.parametrize("workspace", ["w", "other"])
async def test_recorded_events_give_the_recorded_digest_of_the_graph(workspace: str) -> None:
    log = recorded()
    past = Past(log, LIMITS)
    graph, partition = await past.graph(workspace, await past.point(workspace, "now"))
    assert partition == Partition(workspace, 1)
    stores = Stores(MemoryRows(), graph, MemoryVectors("m", 2))
    assert (await digest("graph", workspace, Generations(), stores)).sha256 == DIGESTS[
        workspace, "graph"
    ]


async def test_the_log_is_read_on_and_what_was_read_of_it_is_used_again() -> None:
    log = recorded()
    past = Past(log, LIMITS)
    end = await past.point("w", "now")
    (earlier,) = await past.states("w", end // 2)
    (later, again) = await past.states("w", end, end // 2)
    assert again is earlier and later.sequence == end
    assert (await past.events("w", end)).contributions == (
        await Past(log, LIMITS).events("w", end)
    ).contributions


async def test_a_graph_that_does_not_fit_is_refused_with_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(past_events, "MAX_CONTRIBUTIONS", 3)
    past = Past(recorded(), LIMITS)
    with pytest.raises(TooLarge, match="more than 3 things"):
        await past.states("w", await past.point("w", "now"))
