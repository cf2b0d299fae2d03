"""Stores that are lost seconds after the first document of a new stack are named, and come back
from the log.
"""

import os
import shutil
import signal
from pathlib import Path

import pytest

from contracts.graph import PROJECTIONS
from tests.support.corpus import documents
from tests.support.stack import Stack, running

QUESTION = "Who leads the Harbour Office?"
LOST = ("graph", "vectors")
WAY_OUT = "lightstream rebuild graph && lightstream rebuild vectors"


def crash(stack: Stack) -> None:
    """End everything at once, before any service may look at its stores once more."""
    state = stack.state
    assert state.supervisor is not None
    for identity in (state.supervisor, *(child.identity for child in state.children.values())):
        os.kill(identity.pid, signal.SIGKILL)


@pytest.mark.nightly  # one store and a bus: tests/integration/test_early_loss.py
def test_stores_lost_right_after_the_first_document_are_named_and_made_anew(tmp_path: Path) -> None:
    with running(tmp_path / "data") as stack:
        stack.add(documents(1))
        assert stack.settled(1)["processed"] == 1
        crash(stack)
        for store in LOST:
            shutil.rmtree(stack.folder / store)
        stack.up()

        outcome, examined = stack.run("ask", QUESTION), stack.run("doctor")
        assert (outcome.returncode, WAY_OUT in outcome.stderr) == (3, True), (
            f"{outcome.stdout}\n{outcome.stderr}"
        )
        assert (examined.returncode, WAY_OUT in examined.stdout) == (1, True), examined.stdout

        for store in LOST:
            stack.json("rebuild", store)
        answered = stack.json("rebuild", "all")
        assert {
            name: digest["same"] for name, digest in answered["digests"].items()
        } == dict.fromkeys(PROJECTIONS, True)
        assert stack.run("ask", QUESTION).returncode == 0
