"""A keeper and its workers without any server: what it does when workers end, and to whom it
deals.
"""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from embedded.processes import Process, free_port
from tests.support.nats_server import until
from tests.support.services import ROOT, logs
from tests.support.worker_processes import accepted, workers

PROGRAM = """
import asyncio, os, sys, time
from pathlib import Path
from runtime import telemetry
from runtime.processes import worker
from runtime.processes import parent

port, folder = int(sys.argv[1]), Path(sys.argv[2])
here = worker.own_control_socket()
if here is None:
    telemetry.configure("query", "INFO")
    sys.exit(parent.run_workers("127.0.0.1", port, 2, {"LENT": "to all"}))
name = "first" if here.first else "other"
told = (folder / name).read_text() if (folder / name).exists() else ""
if told.startswith("exit"):
    sys.exit(int(told.split()[1]))
if told == "sleep":
    time.sleep(60)

async def main():
    stop = asyncio.Event()

    def take(connection):
        connection.setblocking(True)
        with connection:
            connection.sendall(f"{name} {os.getpid()} {os.environ['LENT']}".encode())

    here.receive_connections(take, stop.set)
    while told == "hold" and (folder / name).exists():
        await asyncio.sleep(0.02)
    here.ready()
    await stop.wait()

asyncio.run(main())
"""


@asynccontextmanager
async def kept(folder: Path, **orders: str) -> AsyncGenerator[Process]:
    """A keeper of two workers, told to `hold` until the file is gone, to `sleep`, or to `exit` with
    a code.
    """
    for name, word in orders.items():
        (folder / name).write_text(word)
    (folder / "program.py").write_text(PROGRAM)
    port = str(free_port())

    async def probe() -> None:
        """Nobody waits for it to be ready."""

    argv = [sys.executable, str(folder / "program.py"), port, str(folder)]
    process = Process("keeper", argv, folder, probe, env={"PYTHONPATH": str(ROOT), "PORT": port})
    await process.spawn()
    try:
        yield process
    finally:
        await process.stop()


def said(process: Process) -> str:
    """What the worker says to whom the next connection is dealt; empty when nobody listens yet or
    it is reset.
    """
    try:
        with socket.create_connection(
            ("127.0.0.1", int(process.env["PORT"])), timeout=20
        ) as client:
            return client.recv(100).decode()
    except OSError:
        return ""


async def until_said(process: Process, *names: str) -> None:
    """Wait until these have answered."""
    result: set[str] = set()

    async def all_have() -> bool:
        result.add((await asyncio.to_thread(said, process)).split(" ")[0])
        return result >= set(names)

    await until(all_have, f"answers of {names}")


async def test_workers_take_connections_in_turn_with_what_they_were_lent(tmp_path: Path) -> None:
    async with kept(tmp_path) as process:
        await until_said(process, "first", "other")
        answers = [await asyncio.to_thread(said, process) for _ in range(4)]
        assert answers[:2] == answers[2:]
        assert len(set(answers)) == 2
        assert all(answer.endswith(" to all") for answer in answers)


async def test_others_start_when_the_first_is_ready_and_get_nothing_before_they_are(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, first="hold", other="hold") as process:
        await until_said(process, "first")
        assert len(workers(process)) == 1
        (tmp_path / "first").unlink()

        async def two() -> bool:
            return len(workers(process)) == 2

        await until(two, "the second worker")
        answers = [await asyncio.to_thread(said, process) for _ in range(4)]
        assert {answer.split(" ")[0] for answer in answers} == {"first"}
        (tmp_path / "other").unlink()
        await until_said(process, "other")


async def test_a_worker_that_was_never_ready_ends_all_with_its_code(tmp_path: Path) -> None:
    async with kept(tmp_path, other="exit 3") as process:
        assert await asyncio.wait_for(process.wait(), 20) == 3
    (line,) = logs(process)
    assert (line["event"], line["code"]) == ("a worker ended before it was ready", 3)


async def test_a_worker_that_cannot_come_back_is_tried_again_later_and_later_while_the_others_answer(  # noqa: E501
    tmp_path: Path,
) -> None:
    async with kept(tmp_path) as process:
        await until_said(process, "first", "other")
        for name in ("first", "other"):
            (tmp_path / name).write_text("exit 0")
        before = {(await asyncio.to_thread(said, process)).split(" ")[1] for _ in range(2)}
        victim = int(min(before, key=int))
        os.kill(victim, signal.SIGKILL)

        async def three() -> bool:
            return len(logs(process)) >= 3

        await until(three, "three ends")
        assert [line["again_in"] for line in logs(process)][:3] == [0.2, 0.4, 0.8]
        assert [line["code"] for line in logs(process)][:3] == [-9, 0, 0]
        assert await asyncio.to_thread(said, process)
        process.signal(signal.SIGTERM)
        # It waits to start one again just now, and the other one ends by the signal.
        assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_a_first_worker_that_ends_with_connections_unread_ends_the_keeper_without_a_traceback(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path, first="sleep") as process:

        async def started() -> bool:
            return bool(workers(process))

        await until(started, "the first worker")
        (pid,) = workers(process)
        port = int(process.env["PORT"])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            mine = client.getsockname()[1]

            async def dealt() -> bool:
                return bool(accepted(port, mine))

            await until(dealt, "the connection accepted")
            os.kill(pid, signal.SIGKILL)
            assert await asyncio.wait_for(process.wait(), 20) == 137
        assert "Traceback" not in process.log.read_text("utf-8")
