"""A whole stack of three partitions: a workspace is moved while it is asked and written to, and is
afterwards what a rebuild makes of it, an erasure included.
"""

import asyncio
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from contracts import subjects
from contracts.partitions import partition_at, partition_of
from runtime.bus.codec import encode
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.bus.repetitions import subject_of
from tests.support.events import added, sealed
from tests.support.stack import PARTITIONS, Stack, running, until

pytestmark = pytest.mark.nightly  # without a stack: tests/integration/test_partition_move.py

COUNT = PARTITIONS if PARTITIONS > 1 else 3
OPTIONS = () if PARTITIONS > 1 else ("--partitions", str(COUNT))
MOVED = next(name for name in "abcdefgh" if partition_of(name, COUNT) == 0)
OTHER = next(name for name in "abcdefgh" if partition_of(name, COUNT) == COUNT - 1)
EARLY = {
    "harbour.txt": "The Harbour Office is led by Mara Lindqvist. She lives in Oskarshamn.",
    "mill.txt": "The Old Mill belongs to Jonas Berg, who bought it in 1921.",
    "secret.txt": "The Blue Ledger is kept by Vera Quist in the Old Mill.",
}
LATE = {
    "harbour.txt": "The Harbour Office is led by Nils Ahlberg since the spring.",
    "bridge.txt": "The Long Bridge was built by Mara Lindqvist in 1934.",
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    with running(tmp_path_factory.mktemp("moved") / "data", *OPTIONS) as stack:
        for workspace in (MOVED, OTHER):
            stack.add(EARLY, workspace)
            stack.settled(len(EARLY), workspace)
        yield stack


def passages(stack: Stack, question: str, workspace: str = MOVED) -> set[str]:
    with stack.client(workspace) as client:
        answer = client.post("/query/data", json={"query": question, "mode": "naive"})
        assert answer.status_code == 200, answer.text
    return {chunk["content"] for chunk in answer.json()["data"].get("chunks", [])}


def ask_again_and_again(stack: Stack, is_over: threading.Event) -> int:
    """Ask until it is over, and return how often both workspaces were answered for."""
    count = 0
    while not is_over.is_set():
        for workspace in (MOVED, OTHER):
            assert passages(stack, "Who bought the Old Mill?", workspace)
        count += 1
    return count


def add_during_the_move(stack: Stack) -> None:
    for number in range(4):
        stack.add({f"during-{number}.txt": f"Crane {number} stands at the quay."}, MOVED)


async def publish_as_another_system(url: str, id: str, text: str) -> None:
    envelope = sealed(added(id, text), id=f"foreign-{id}", workspace=MOVED)
    async with connected(url, name="test") as client:
        await client.jetstream().publish(subject_of(envelope), encode(envelope))


async def partitions_of_versions(url: str) -> list[int]:
    async with connected(url, name="test") as client:
        history = NatsLog(client.jetstream()).history(MOVED, None, "DocumentAdded")
        return [partition_at(message.sequence) async for message in history]


async def texts_of(url: str) -> str:
    """Return all that the log holds of the moved workspace, wherever it stands."""
    async with connected(url, name="test") as client:
        log = NatsLog(client.jetstream(), with_misplaced=True)
        filters = [subjects.of_workspace(MOVED)]
        return "".join([m.data.decode() async for page in log.read(0, filters) for m in page])


def digests_are_those_of_a_rebuild(stack: Stack) -> None:
    before = stack.digest(MOVED), stack.digest(OTHER)
    outcome = stack.json("rebuild", "all", "--workspace", MOVED)
    assert {name: of_one["same"] for name, of_one in outcome["digests"].items()} == dict.fromkeys(
        outcome["targets"], True
    )
    assert (stack.digest(MOVED), stack.digest(OTHER)) == before


def test_a_workspace_is_moved_while_it_is_asked_and_written_to(stack: Stack) -> None:
    plan = stack.run("partition", "move", MOVED, "--to", "1")
    assert plan.returncode == 0
    assert "give --yes to do it" in plan.stdout
    is_over = threading.Event()
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(ask_again_and_again, stack, is_over)
        adding = pool.submit(add_during_the_move, stack)
        move = stack.run("partition", "move", MOVED, "--to", "1", "--yes")
        assert move.returncode == 0, move.stderr
        adding.result()
        is_over.set()
        assert asking.result() > 0
    stack.add(LATE, MOVED)
    asyncio.run(publish_as_another_system(stack.settings.nats_url, "foreign.txt", "A red kite."))
    stack.settled(len(EARLY) + 4 + 2, MOVED)
    assert any("Nils Ahlberg" in text for text in passages(stack, "Who leads the Harbour Office?"))
    assert not any("She lives" in text for text in passages(stack, "Who leads the Harbour Office?"))
    assert any("red kite" in text for text in passages(stack, "a red kite"))
    partitions = asyncio.run(partitions_of_versions(stack.settings.nats_url))
    assert partitions == sorted(partitions)
    assert set(partitions) == {0, 1}
    assert f"workspace {MOVED}: partition 1" in stack.run("partition", "list").stdout
    assert f"workspace {MOVED}: partition 1" in stack.run("projections", "list").stdout
    assert "was moved to partition 1" in stack.run("doctor").stdout


def test_a_rebuild_finds_what_was_written_and_the_log_is_whole(stack: Stack) -> None:
    digests_are_those_of_a_rebuild(stack)
    assert stack.json("audit")["problems"] == []


def test_a_document_from_before_the_move_is_erased_after_it(stack: Stack) -> None:
    assert stack.json("erase", "secret.txt", "--workspace", MOVED, "--yes")
    assert not any("Blue Ledger" in text for text in passages(stack, "the Blue Ledger"))
    assert any("Blue Ledger" in text for text in passages(stack, "the Blue Ledger", OTHER))
    assert "Blue Ledger" not in asyncio.run(texts_of(stack.settings.nats_url))
    assert stack.json("audit")["problems"] == []
    digests_are_those_of_a_rebuild(stack)


def test_all_services_come_back_to_where_the_workspace_is(stack: Stack) -> None:
    stack.kill("query")
    until(lambda: stack.counts(MOVED))
    count = stack.counts(MOVED)["all"]
    stack.add({"after.txt": "The lighthouse is white."}, MOVED)
    stack.settled(count + 1, MOVED)
    assert any("lighthouse" in text for text in passages(stack, "the white lighthouse"))
