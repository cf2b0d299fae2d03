"""What the doctor makes of room on a disk, events that come again, and dead letters."""

import re
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from contracts.topology import CONSUMERS
from embedded.data_folder import DataFolder, StackState
from lightstream_rag.languages import DocumentLanguages
from operations.doctor import machine
from operations.doctor.bus import examine_bus
from operations.doctor.languages import finding_of
from operations.doctor.machine import GiB, MiB, disk_partition
from runtime.bus import topology
from runtime.bus.dead_letters import count_dead_letters
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.retry_reasons import RetryReasons
from runtime.bus_examination import cause_of_redelivery
from runtime.errors import Unavailable
from tests.architecture.sources import REPOSITORY
from tests.support.nats_server import connected, running_nats


def test_what_the_doctor_misses_an_install_of_the_stack_brings() -> None:
    lock = (REPOSITORY / "requirements/embedded.lock.txt").read_text("utf-8")
    locked_names = {
        re.sub(r"[-_.]+", "-", name) for name in re.findall(r"^([\w.-]+)==", lock, re.M)
    }
    distributions = packages_distributions()
    for package in machine.PACKAGES:
        names = {re.sub(r"[-_.]+", "-", name.lower()) for name in distributions[package]}
        assert names & locked_names, package


@pytest.mark.parametrize(
    ("free", "stack_bytes", "level"),
    [
        (100 * MiB, 0, "fault"),
        (300 * MiB, 10 * MiB, "well"),
        (300 * MiB, 100 * MiB, "note"),
        (1900 * MiB, 300 * MiB, "well"),
        (20 * GiB, 30 * GiB, "note"),
    ],
)
def test_room_is_held_against_what_the_stack_holds(free: int, stack_bytes: int, level: str) -> None:
    result = disk_partition(free, stack_bytes, Path("/data"))
    assert result.level == level
    assert bool(result.todo) == (level != "well")


def test_what_a_stack_holds_is_counted_without_what_lies_beside_it(tmp_path: Path) -> None:
    for name in ("bus/jetstream/1.blk", "vectors/vectors.db", "notes/mine.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_bytes(bytes(10_000_000))
    assert 20_000_000 <= machine.size_of_stores(tmp_path) < 21_000_000


def test_a_language_that_the_model_of_the_vectors_lacks_is_a_note_with_the_command() -> None:
    languages = DocumentLanguages(
        passages=20,
        languages={"german": 18, "english": 2},
        embedding_model="minilm",
        unknown_language="german",
        advised_model="multilingual",
    )
    finding = finding_of(languages, "handbuch..small")
    assert finding is not None
    assert finding.level == "note"
    assert "18 of 20 passages" in finding.what and "in German" in finding.what
    # A branch has the vectors of its origin.
    assert "`lightstream embedding set multilingual --workspace handbuch`" in finding.todo
    finding = finding_of(languages.model_copy(update={"advised_model": ""}), "w")
    assert finding is not None and "no built-in model knows it" in finding.todo
    assert finding_of(languages.model_copy(update={"unknown_language": ""}), "w") is None


async def test_the_cause_of_events_that_come_again_is_the_one_their_service_tells() -> None:
    reasons = RetryReasons()
    assert await reasons.note() is None
    reasons.failed(7, Unavailable("the graph store does not answer"), 1.0)
    reasons.failed(9, ValueError("a text of somebody"), 1.0)
    assert (
        await reasons.note()
        == "2 come again, the last of them event 9: ValueError (the service's log has it all)"
    )
    reasons.settled(9)
    note = await reasons.note()
    assert (
        note
        == "1 come again, the last of them event 7: Unavailable: the graph store does not answer"
    )
    assert cause_of_redelivery("merger", {"merger: tried again": note}) == note
    assert "may be down" not in cause_of_redelivery("merger", {}) + cause_of_redelivery(
        "merger", None
    )
    reasons.failed(7, Unavailable("x"), -1000.0)
    assert await reasons.note() is None


async def test_strangers_read_no_more_than_the_kind_of_an_error() -> None:
    reasons = RetryReasons(public=True)
    reasons.failed(7, Unavailable("the store of somebody"), 1.0)
    assert "somebody" not in str(await reasons.note())


async def test_a_message_that_several_durables_set_aside_is_one_dead_letter_and_no_fault(
    tmp_path: Path,
) -> None:
    async with running_nats(tmp_path) as server, connected(server) as client:
        jetstream = client.jetstream()
        await topology.apply(jetstream)
        assert (await count_dead_letters(NatsDeadLetters(jetstream))).count == 0
        for durable in ("chunker", "query-status", "merger"):
            for place in ("7", "8"):
                headers = {"Kb-Sequence": place, "Kb-Reason": f"{place} is no event"}
                await jetstream.publish(f"dead.{durable}", b"raw", headers=headers)
        result = await count_dead_letters(NatsDeadLetters(jetstream))
        assert (result.count, result.reason, result.last_at is not None) == (
            2,
            "8 is no event",
            True,
        )
        findings = [finding async for finding in examine_bus(server.url, "", {})]
    assert [finding.level for finding in findings] == ["note"]
    assert "2 messages were set aside for good" in findings[0].what
    assert len(CONSUMERS) > 1


def test_of_a_running_stack_its_own_models_are_told_not_those_of_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StackState(models={"language": "tide-1", "embedding": "minilm"})
    folder = DataFolder.at(tmp_path)
    (idle,) = machine.models_in_use(folder, state)
    monkeypatch.setattr(DataFolder, "is_running", lambda _: True)
    (running,) = machine.models_in_use(folder, state)
    assert "no language model is set" in idle.what
    assert running.what == "the running stack uses the language model tide-1"
