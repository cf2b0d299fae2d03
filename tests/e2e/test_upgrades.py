"""Folders of every older schema, taken over by this program: what doctor names, rebuilt, equals a
clean build.
"""

import os
import signal
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contracts.graph import PROJECTIONS
from runtime.stores.documents import schema
from tests.support import language_model, older_folders
from tests.support.language_model import LanguageModel, serving
from tests.support.older_folders import ADDED, DIMENSION, LATE
from tests.support.stack import Stack, at_rest, running, until

OWED = {1: [*PROJECTIONS], 2: ["graph", "vectors"], 3: ["graph", "vectors"]}
"""What this program cannot go on with, by schema."""

DAILY = (3,)
"""A schema of which something is owed; the others are nightly."""

MOST_BYTES = 420_000
"""Of the archive, which everybody gets with the repository."""


@pytest.fixture(scope="module")
def model() -> Generator[LanguageModel]:
    with pytest.MonkeyPatch.context() as patch, serving() as model:
        patch.setattr(language_model, "DIMENSION", DIMENSION)
        model.varied = True
        yield model


def test_there_is_a_folder_of_every_older_schema() -> None:
    assert older_folders.schemas() == list(range(1, schema.VERSION)), (
        "see tests/support/older_folders/make.py"
    )
    assert older_folders.ARCHIVE.stat().st_size < MOST_BYTES


def settled(stack: Stack) -> dict[str, Any]:
    """The digest once all documents are processed and nothing waits, due summaries included."""
    until(lambda: at_rest(stack), stack.logs)
    counts = stack.counts()
    assert counts["processed"] == counts["all"]
    return stack.digest()


def owed(stack: Stack) -> list[str]:
    """The projections that doctor finds incomplete, in the order in which it names their
    rebuilds.
    """
    outcome = stack.run("doctor")
    named = [
        name for name in PROJECTIONS if f"FAIL  {name}: it has been incomplete" in outcome.stdout
    ]
    assert outcome.returncode == (1 if named else 0), outcome.stdout
    if named:
        commands = " && ".join(f"lightstream rebuild {name}" for name in named)
        assert f"`{commands}`" in outcome.stdout.replace("lightstream rebuild all", commands)
    return named


def crash(stack: Stack) -> None:
    """End every process of the stack at once."""
    state = stack.state
    assert state.supervisor is not None
    for identity in (state.supervisor, *(child.identity for child in state.children.values())):
        with suppress(ProcessLookupError):  # one may have ended with its supervisor
            os.kill(identity.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "version",
    [
        version if version in DAILY else pytest.param(version, marks=pytest.mark.nightly)
        for version in older_folders.schemas()
    ],
)
def test_a_folder_of_an_older_schema_becomes_what_a_clean_build_makes(
    version: int, tmp_path: Path, model: LanguageModel
) -> None:
    folder = older_folders.unpack(version, tmp_path)
    extracted = model.calls["extract"]
    with running(folder, SUMMARY_QUIET_SECONDS="0.5", **model.environment()) as stack:
        named = owed(stack)
        assert named == OWED.get(version, [])
        if named:
            refusal = stack.run("rebuild", "vectors")
            assert "run `lightstream rebuild graph` first" in refusal.stderr, (
                "its vectors would be of that graph"
            )
            crash(stack)  # in the middle of the upgrade
            stack.up()
            # The services look every few seconds.
            until(lambda: owed(stack) == named, stack.logs)
        for number, projection in enumerate(named):
            # The last rebuild may be seen late.
            until(lambda left=named[number:]: owed(stack) == left, stack.logs)
            stack.json("rebuild", projection)
        upgraded = settled(stack)
        assert owed(stack) == []
        assert model.calls["extract"] - extracted <= LATE, "nothing that was paid for is paid again"
        assert upgraded["counts"]["status"]["documents"] >= ADDED + LATE - 2
        summaries = model.calls["summary"]
        stack.json("rebuild", "all")
        assert settled(stack) == upgraded
        assert model.calls["summary"] == summaries, "none was due any more"
        assert (version, owed(stack)) == (version, [])
