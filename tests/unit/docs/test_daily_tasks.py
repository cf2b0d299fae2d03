"""Each task of a daily user has tests that click it."""

import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "e2e/own_page"
TASKS: dict[str, list[str]] = tomllib.loads((FOLDER / "tasks.toml").read_text("utf-8"))["tasks"]


@pytest.mark.parametrize("task", TASKS)
def test_a_task_of_a_daily_user_is_clicked_by_tests_that_are_there(task: str) -> None:
    assert TASKS[task]
    for test in TASKS[task]:
        file, _, name = test.partition("::")
        assert f"\ndef {name}(" in (FOLDER / file).read_text("utf-8"), test
