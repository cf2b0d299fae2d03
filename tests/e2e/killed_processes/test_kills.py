"""kill -9 of any process while documents go through: everything ends as if nothing had happened."""

import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.killed_processes.conftest import SERVERS
from tests.support.corpus import documents
from tests.support.stack import Stack, running, unacknowledged, until

COUNT = 40
OPTIONS = {"files": (), "servers": SERVERS}
"""How stacks are begun that have graph and vectors in files, and in servers."""

VICTIMS = (("files", "merger"), ("servers", "arcadedb"))
MORE_VICTIMS = (
    *(("files", name) for name in ("nats-server", "chunker", "extractor", "indexer", "query")),
    *(("servers", name) for name in ("merger", "milvus-lite", "indexer", "query")),
)
"""Whose kill alone is nightly: the storm below and that of the real files kill services, too."""


@pytest.fixture(
    scope="module", params=["files", pytest.param("servers", marks=pytest.mark.nightly)]
)
def stack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Stack]:
    folder = tmp_path_factory.mktemp(f"killed-{request.param}") / "data"
    with running(folder, *OPTIONS[request.param]) as stack:
        yield stack


@pytest.fixture(scope="module")
def undisturbed(stack: Stack) -> dict[str, object]:
    stack.add(documents(COUNT), "calm")
    assert stack.settled(COUNT, "calm")["processed"] == COUNT
    return stack.digest("calm")


@pytest.mark.parametrize(
    ("stack", "victim"),
    [*VICTIMS, *(pytest.param(*case, marks=pytest.mark.nightly) for case in MORE_VICTIMS)],
    indirect=["stack"],
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
