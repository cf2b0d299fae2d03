"""The command line on running stacks: two side by side, what each command says, and with which code
it ends.
"""

import asyncio
import json
import os
import signal
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runtime.errors import ConfigurationError
from tests.support import commands
from tests.support.freezing import freeze
from tests.support.stack import Stack, environment, pending, running, until

TEXT = "Ada Marlow sailed the Kestrel to Port Elm. Celia Finch met Ada Marlow there."


@contextmanager
def as_programs() -> Generator[None]:
    """Let commands be the program as it is installed: what is said here is the same where they are
    forked.
    """
    with pytest.MonkeyPatch.context() as context:
        context.setattr(commands, "give", commands.as_program)
        yield


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A second stack, without documents."""
    with running(tmp_path_factory.mktemp("two") / "another folder") as other:
        yield other


@pytest.fixture(scope="module", autouse=True)
def kestrel(stack: Stack) -> None:
    """The document of the first stack."""
    with as_programs():
        outcome = stack.run("add", "-", "--name", "kestrel.txt", "--wait", stdin=TEXT)
    assert outcome.returncode == 0, outcome.stderr


def test_two_stacks_share_no_port_and_no_document(stack: Stack, other: Stack) -> None:
    assert not {*stack.state.ports.values()} & {*other.state.ports.values()}
    assert other.counts()["all"] == 0


def test_up_where_a_stack_runs_says_so_and_starts_no_other(stack: Stack) -> None:
    before = stack.processes()
    outcome = stack.run("up", "--detach")
    assert (outcome.returncode, stack.state.api in outcome.stdout) == (0, True)
    assert stack.processes() == before


def test_nobody_else_on_the_machine_can_read_the_stack_or_reach_its_bus(stack: Stack) -> None:
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in [stack.folder, *stack.folder.rglob("*")]
    }
    assert len(modes) > 30
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}
    address = stack.json("up", "--detach")["nats_url"]
    password = stack.state.bus_password
    assert (
        len(password) >= 24,
        f":{password}@127.0.0.1:{stack.state.ports['bus']}" in address,
    ) == (True, True)
    with pytest.raises(ConfigurationError, match="refuses the user or the password"):
        asyncio.run(pending(f"nats://127.0.0.1:{stack.state.ports['bus']}"))
    assert asyncio.run(pending(address))
    for process in stack.processes():
        assert password.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    for log in stack.folder.rglob("*.log"):
        assert password not in log.read_text("utf-8", "replace")


def test_the_answer_names_its_source(stack: Stack) -> None:
    outcome = stack.run("ask", "Who sailed the Kestrel?")
    assert outcome.returncode == 0
    assert "Ada Marlow" in outcome.stdout
    assert "[1] kestrel.txt" in outcome.stdout


def test_nothing_found_is_an_answer(other: Stack) -> None:
    outcome = other.run("ask", "Who sailed the Kestrel?")
    assert (outcome.returncode, "nothing in the documents" in outcome.stdout) == (0, True)


def test_the_status_of_all_and_of_one(stack: Stack) -> None:
    assert "1 documents in workspace default" in stack.run("status").stdout
    assert stack.json("status", "kestrel.txt")["status"] == "processed"
    missing = stack.run("status", "nothing.txt")
    assert (missing.returncode, "no document 'nothing.txt'" in missing.stderr) == (2, True)


def test_the_log_tells_the_whole_history_in_order(stack: Stack) -> None:
    lines = [
        json.loads(line)
        for line in stack.run("log", "--document", "kestrel.txt", "--json").stdout.splitlines()
    ]
    kinds = [line["type"] for line in lines]
    assert kinds[:4] == ["DocumentAdded", "ChunksCreated", *kinds[2:4]]
    assert set(kinds) == {
        "DocumentAdded",
        "ChunksCreated",
        "EntitiesExtracted",
        "GraphMerged",
        "VectorsIndexed",
    }
    later = stack.run("log", "--from", str(lines[-1]["sequence"]), "--json").stdout.splitlines()
    assert [json.loads(line)["sequence"] for line in later] == [lines[-1]["sequence"]]


def test_the_last_events_and_those_behind_a_place_are_shown_with_names(stack: Stack) -> None:
    lines = [json.loads(line) for line in stack.run("log", "--json").stdout.splitlines()]
    assert {line["name"] for line in lines if line["type"] == "DocumentAdded"} >= {"kestrel.txt"}
    sequences = [line["sequence"] for line in lines]
    last_lines = stack.run("log", "-n", "2", "--json").stdout.splitlines()
    assert [json.loads(line)["sequence"] for line in last_lines] == sequences[-2:]
    behind = stack.run("log", "--since", str(sequences[-4]), "--json").stdout.splitlines()
    assert [json.loads(line)["sequence"] for line in behind] == sequences[-3:]
    assert "kestrel.txt" in stack.run("log", "-n", "1", "--document", "kestrel.txt").stdout


@pytest.mark.parametrize(
    "options", [("--document", "nothing.txt"), ("--since", "soon"), ("--since", "1", "--from", "2")]
)
def test_a_log_of_nothing_is_an_error_with_its_cause(stack: Stack, options: list[str]) -> None:
    refusal = stack.run("log", *options)
    assert (refusal.returncode, refusal.stdout) == (2, "")
    assert any(
        sentence in refusal.stderr
        for sentence in (
            "the log has nothing of a document 'nothing.txt' in workspace default",
            "is not a sequence in the log, a time",
            "give --since or --from, not both",
        )
    )


def test_the_log_is_followed_until_ctrl_c(stack: Stack, tmp_path: Path) -> None:
    out = tmp_path / "followed.txt"
    command = [*commands.beginning(), "log", "--follow", "--data", str(stack.folder)]
    with (
        out.open("wb") as sink,
        subprocess.Popen(command, stdout=sink, env=environment({})) as follower,
    ):
        try:
            until(lambda: "kestrel.txt" in out.read_text())
            assert (
                stack.run(
                    "add", "-", "--name", "later.txt", stdin="Dorian Pell sold salt."
                ).returncode
                == 0
            )
            until(lambda: "later.txt" in out.read_text())
            follower.send_signal(signal.SIGINT)
            assert follower.wait(30) == 0
        finally:
            follower.kill()


def test_the_topology_is_as_declared_and_can_be_repaired(stack: Stack) -> None:
    assert stack.run("topology", "check").returncode == 0
    assert stack.run("topology", "apply").returncode == 0


def test_the_doctor_finds_nothing_wrong(stack: Stack) -> None:
    outcome = stack.run("doctor")
    assert outcome.returncode == 0, outcome.stdout
    assert "chunker is ready" in outcome.stdout


def test_the_doctor_names_a_process_that_is_gone(other: Stack) -> None:
    freeze(other.pid("extractor"))
    try:
        outcome = other.run("doctor")
    finally:
        os.kill(other.pid("extractor"), signal.SIGCONT)
    assert (outcome.returncode, "extractor is not ready" in outcome.stdout) == (1, True)


def test_the_digest_has_a_value_for_each_projection(stack: Stack) -> None:
    result = stack.digest()
    assert {len(result[name]) for name in ("status", "graph", "vectors")} == {64}


def test_adding_the_same_again_sends_nothing(stack: Stack) -> None:
    last = len(stack.run("log", "--json").stdout.splitlines())
    outcome = stack.run("add", "-", "--name", "kestrel.txt", "--wait", stdin=TEXT)
    assert (outcome.returncode, "0 added, 1 unchanged" in outcome.stdout) == (0, True)
    assert len(stack.run("log", "--json").stdout.splitlines()) == last


def test_a_killed_supervisor_s_stack_is_ended_by_down(other: Stack) -> None:
    left = other.processes()
    supervisor = other.state.supervisor
    assert supervisor is not None
    os.kill(supervisor.pid, signal.SIGKILL)
    until(lambda: not supervisor.alive)
    with as_programs():
        other.down()
        assert not [process for process in left if process.alive]
        other.up()
    assert other.counts()["all"] == 0
