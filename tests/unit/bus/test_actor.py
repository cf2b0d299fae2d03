"""In whose name commands publish, and that no publisher forgets it."""

import asyncio
from pathlib import Path

import pytest

from runtime.bus.actor import ACTOR_VARIABLE, acting_as, current_actor, local_actor
from tests.architecture.sources import FLOORS, modules

ROOT = Path(__file__).parents[3]


def test_a_command_acts_in_the_name_of_its_user_or_of_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(ACTOR_VARIABLE, raising=False)
    assert local_actor().startswith("os:")
    assert local_actor() != "os:"
    monkeypatch.setenv(ACTOR_VARIABLE, " nightly import ")
    assert local_actor() == "nightly import"


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ACTOR_VARIABLE, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000)
    assert local_actor() == "os:4000000"


async def test_tasks_act_in_the_name_they_were_started_in() -> None:
    async def later() -> str | None:
        await asyncio.sleep(0)
        return current_actor()

    with acting_as("key:a"):
        task = asyncio.create_task(later())
    with acting_as("key:b"):
        assert await task == "key:a"
    assert current_actor() is None


def test_events_without_a_cause_get_their_lineage_from_one_place() -> None:
    wraps = [
        path.relative_to(ROOT).as_posix()
        for path in modules(*FLOORS)
        if "Lineage(traceparent=" in path.read_text("utf-8")
    ]
    assert wraps == ["runtime/bus/lineage.py"]
