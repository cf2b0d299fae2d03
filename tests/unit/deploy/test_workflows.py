"""The workflows of the repository: what they run exists, and nobody else's program may change under
them. `make workflows` lets actionlint read them, too.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture.sources import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
MAKEFILE = (REPOSITORY / "Makefile").read_text("utf-8")
PINNED = re.compile(r"^[\w-]+/[\w-]+@(v\d+(\.\d+)*|[0-9a-f]{40})$")


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_targets_exist(workflow: Path) -> None:
    actions = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert actions
    assert [action for action in actions if not PINNED.match(action)] == []
    commands = "\n".join(step["run"] for step in steps(workflow) if "run" in step)
    goals = re.findall(r"^make ([a-z -]+)$", commands, re.MULTILINE)
    unknown = [
        goal for line in goals for goal in line.split() if f"\n{goal}:" not in f"\n{MAKEFILE}"
    ]
    assert unknown == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_and_a_job_asks_for_more(workflow: Path) -> None:
    content = yaml.safe_load(workflow.read_text("utf-8"))
    assert content["permissions"] == {"contents": "read"}
    assert [name for name, job in content["jobs"].items() if "timeout-minutes" not in job] == []


def test_nothing_of_a_release_leaves_before_it_was_tested() -> None:
    release = yaml.safe_load((REPOSITORY / ".github/workflows/release.yml").read_text("utf-8"))
    jobs: dict[str, Any] = release["jobs"]
    publishing = {name for name, job in jobs.items() if "needs" in job}
    assert publishing == set(jobs) - {"test", "dist"}
    for name in publishing - {"notes"}:
        assert {"test", "dist"} <= set(jobs[name]["needs"])
    assert set(jobs["notes"]["needs"]) == publishing - {"notes"}
