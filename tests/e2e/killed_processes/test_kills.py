"""kill -9 of any process while documents go through: everything ends as if nothing had happened."""

import time
from pathlib import Path

import pytest

from tests.support.corpus import documents
from tests.support.stack import Stack, unacknowledged, until

COUNT = 40
VICTIMS = ("merger", "arcadedb")
MORE_VICTIMS = ("nats-server", "milvus-lite", "chunker", "extractor", "indexer", "query")
"""Whose kill alone is nightly: the storm below and that of the real files kill services, too."""


@pytest.fixture(scope="module")
def undisturbed(stack: Stack) -> dict[str, object]:
    stack.add(documents(COUNT), "calm")
    assert stack.settled(COUNT, "calm")["processed"] == COUNT
    return stack.digest("calm")


@pytest.mark.parametrize(
    "victim",
    [*VICTIMS, *(pytest.param(name, marks=pytest.mark.nightly) for name in MORE_VICTIMS)],
)
def test_a_killed_process_changes_nothing(
    stack: Stack, undisturbed: dict[str, object], victim: str
) -> None:
    workspace = f"kill-{victim}"
    stack.add(documents(COUNT), workspace)
    at_kill = stack.counts(workspace)
    pid = stack.pid(victim)
    stack.kill(victim)
    assert at_kill["processed"] < COUNT, "the kill came too late to disturb anything"

    until(
        lambda: (
            stack.state.children[victim].identity.pid != pid and stack.state.children[victim].ready
        )
    )
    assert stack.settled(COUNT, workspace)["processed"] == COUNT
    assert stack.digest(workspace) == undisturbed


def test_nothing_is_left_unacknowledged(stack: Stack, undisturbed: dict[str, object]) -> None:
    until(
        lambda: all(left == (0, 0) for left in unacknowledged(stack).values()),
        lambda: str(unacknowledged(stack)),
    )


def test_services_killed_again_and_again_still_end_the_same(
    stack: Stack, undisturbed: dict[str, object]
) -> None:
    stack.add(documents(COUNT), "storm")
    for victim in (
        "merger",
        "indexer",
        "extractor",
        "merger",
        "query",
        "indexer",
        "chunker",
        "merger",
    ):
        if stack.state.children[victim].ready:
            stack.kill(victim)
        time.sleep(0.7)  # not for luck: the kills are to fall into different moments of the work
    assert stack.settled(COUNT, "storm")["processed"] == COUNT
    assert stack.digest("storm") == undisturbed


def test_the_data_survive_a_stop_and_a_start(
    stack: Stack, undisturbed: dict[str, object], tmp_path: Path
) -> None:
    stack.down()
    stack.up()
    assert stack.digest("calm") == undisturbed
