"""Processes forked from one that has imported everything: what they are, and what becomes of them
without it.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from embedded.forking import LOG, ForkServer, fork_server
from embedded.orphans import ProcessIdentity
from embedded.processes import Process
from runtime.errors import Unavailable
from tests.support.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tests.support.forked_program"
SERVICES = ("services.gateway.main",)


def program(forks: ForkServer, folder: Path, name: str = "one", code: int = 0) -> Process:
    log = folder / f"{name}.log"

    async def probe() -> None:
        lines = log.read_text("utf-8").splitlines()
        if not lines or json.loads(lines[-1])["pid"] != process.pid:
            raise Unavailable("it has written nothing yet")

    env = {"CODE": str(code), "PYTHONPATH": str(ROOT)}
    process = Process(
        name, [sys.executable, "-m", MODULE], folder, probe, env=env, launch=forks.launch
    )
    return process


def environment(**variables: str) -> Mapping[str, str]:
    return {"PYTHONPATH": str(ROOT), "EMBEDDING_MODEL": "lexical", **variables}


def report(process: Process) -> dict[str, Any]:
    return json.loads(process.log.read_text("utf-8").splitlines()[-1])


async def ended(*processes: ProcessIdentity) -> None:
    async def question() -> None:
        if any(process.alive for process in processes):
            raise Unavailable("still there")

    await eventually(question)


async def test_a_forked_process_is_like_a_started_one(tmp_path: Path) -> None:
    async with fork_server(tmp_path, SERVICES, environment()) as forks:
        process = program(forks, tmp_path, code=7)
        await process.start()
        result = report(process)
        assert result["imported"]
        assert result["parent"] != os.getpid()
        assert (result["session"], result["folder"]) == (True, str(tmp_path))
        assert result["program"] == result["shown"] == ["-m", MODULE]
        process.signal(signal.SIGTERM)
        assert await process.wait() == 7
        assert not process.alive


async def test_a_killed_process_has_its_signal_as_code_and_others_go_on(tmp_path: Path) -> None:
    async with fork_server(tmp_path, (), environment()) as forks:
        first_program = program(forks, tmp_path)
        second_program = program(forks, tmp_path, "other")
        for process in (first_program, second_program):
            await process.start()
        os.kill(first_program.pid, signal.SIGKILL)
        assert await first_program.wait() == -signal.SIGKILL
        assert second_program.alive
        first = first_program.pid
        await first_program.start()
        assert first_program.pid != first
        assert report(first_program)["parent"] == report(second_program)["parent"]
        for process in (first_program, second_program):
            await process.stop()


@pytest.mark.nightly
async def test_what_a_killed_fork_server_forked_ends_and_is_forked_anew_by_another(
    tmp_path: Path,
) -> None:
    async with fork_server(tmp_path, SERVICES, environment()) as forks:
        process = program(forks, tmp_path)
        await process.start()
        pid = process.pid
        parent = report(process)["parent"]
        before = ProcessIdentity.of(pid)
        os.kill(parent, signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
        await ended(before)
        await process.start()
        result = report(process)
        assert result["imported"]
        assert result["parent"] != parent
        await process.stop()


@pytest.mark.nightly
async def test_nothing_is_left_of_what_nobody_stopped(tmp_path: Path) -> None:
    async with fork_server(tmp_path, SERVICES, environment()) as forks:
        process = program(forks, tmp_path)
        await process.start()
        identities = [
            ProcessIdentity.of(process.pid),
            ProcessIdentity.of(report(process)["parent"]),
        ]
    await ended(*identities)


@pytest.mark.nightly
async def test_with_a_thread_after_its_imports_it_ends_and_programs_are_started(
    tmp_path: Path,
) -> None:
    thread = (
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    (tmp_path / "sitecustomize.py").write_text(thread, "utf-8")
    async with fork_server(
        tmp_path, SERVICES, environment(PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    ) as forks:
        process = program(forks, tmp_path, code=5)
        await process.start()
        assert report(process)["parent"] == os.getpid()
        assert not report(process)["imported"]
        process.signal(signal.SIGTERM)
        assert await process.wait() == 5
        assert (tmp_path / LOG).read_text("utf-8") == ""


async def test_the_built_in_models_leave_no_thread_behind(tmp_path: Path) -> None:
    async with fork_server(tmp_path, SERVICES, environment(EMBEDDING_MODEL="minilm")) as forks:
        process = program(forks, tmp_path)
        await process.start()
        assert report(process)["imported"]
        await process.stop()
