"""`demo` as a newcomer runs it: progress, a cited answer, what to do next, nothing left running."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from embedded.data_folder import DataFolder
from tests.support.commands import LIGHTSTREAM
from tests.support.stack import environment
from tests.support.waiting import PATIENCE


def demo(folder: Path, *arguments: str, model: str = "") -> subprocess.CompletedProcess[str]:
    """Run it with this embedding model; without one it is MiniLM, as for a newcomer."""
    env = {
        **environment({}),
        "EMBEDDING_MODEL": model,
        "COLUMNS": "140",
    }  # tables are cut to the terminal's width
    if not model:
        del env["EMBEDDING_MODEL"]
    command = [LIGHTSTREAM, "demo", *arguments, "--data", str(folder)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env=env, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "data"


@pytest.fixture(scope="module")
def first(folder: Path) -> subprocess.CompletedProcess[str]:
    # MiniLM would need a minute of CPU for the whole documentation; the other run has it.
    return demo(folder, model="lexical")


def test_it_answers_with_numbered_sources(first: subprocess.CompletedProcess[str]) -> None:
    assert first.returncode == 0, first.stdout + first.stderr
    answer = first.stdout.partition("Question: ")[2]
    assert re.search(r"\[\d+\]", answer)
    assert re.search(r"(README|architecture)\.md", answer)


def test_it_says_that_there_is_no_language_model_and_how_to_set_one(
    first: subprocess.CompletedProcess[str],
) -> None:
    assert "without a language model" in first.stdout
    assert "OPENAI_API_KEY" in first.stdout + first.stderr


def test_it_says_how_to_go_on(first: subprocess.CompletedProcess[str]) -> None:
    after = first.stdout.partition("How to go on:")[2]
    for hint in ("up --detach", "/docs", "add PATH", "log --follow"):
        assert hint in after


def test_it_leaves_nothing_running(first: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert not DataFolder(folder).is_running()
    mine = [
        pid.name
        for pid in Path("/proc").iterdir()
        if pid.name.isdigit() and pid.name != str(os.getpid()) and str(folder) in _command(pid)
    ]
    assert mine == []


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


@pytest.mark.nightly
def test_own_documents_and_an_own_question_are_taken(tmp_path: Path) -> None:
    (tmp_path / "ship.txt").write_text(
        "The Kestrel is a ship of Port Elm. Ada Marlow is her captain."
    )
    question = "Who is the captain of the Kestrel?"
    outcome = demo(tmp_path / "data", str(tmp_path / "ship.txt"), "--question", question, "--json")
    assert outcome.returncode == 0, outcome.stderr
    result = json.loads(outcome.stdout)
    assert (result["question"], result["refused"]) == (question, 0)
    assert "ship.txt" in {reference["file_path"] for reference in result["references"]}
