"""Several `up` of one folder at once: one starts the stack, the others wait for it and say that it
runs.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stack import Stack, environment

pytestmark = pytest.mark.nightly


def test_of_three_starts_at_once_one_starts_and_all_succeed(tmp_path: Path) -> None:
    stack = Stack(tmp_path / "data")
    command = [sys.executable, "-m", "cli", "up"]
    detached = [*command, "--detach", "--data", str(stack.folder)]
    try:
        starts = [
            subprocess.Popen(
                detached,
                env=environment({}),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        outcomes = [(*start.communicate(timeout=600), start.returncode) for start in starts]
        assert [code for _, _, code in outcomes] == [0, 0, 0], outcomes
        assert all(f"The stack in {stack.folder}" in shown for shown, _, _ in outcomes)
        assert (
            sum(
                "nats-server is ready" in told and "waiting for it" not in told
                for _, told, _ in outcomes
            )
            == 1
        )
        supervisor = stack.state.supervisor

        beside = subprocess.run(
            [*command, "--data", str(stack.folder)],
            env=environment({}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (beside.returncode, "was running already" in beside.stdout) == (0, True), (
            beside.stderr
        )
        assert stack.state.supervisor == supervisor
    finally:
        stack.down()
