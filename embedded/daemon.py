"""A stack in the background: started with a process of its own that outlives the command, stopped
by its pid.

`python -m embedded.daemon FOLDER HOST PORT` is that process, with the address of the API; PORT 0
means the usual one.
"""

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from embedded import orphans
from embedded.data_folder import LOCK_FILE, DataFolder, StackState, end_orphans
from embedded.folder_errors import folder_errors
from embedded.permissions import UMASK, make_private, open_private
from embedded.ports import ApiAddress, configured_address
from runtime.errors import Busy, ConfigurationError, InvalidInput

Report = Callable[[str], None]
"""Takes one line about what happened."""

LOG = "supervisor.log"

START_TIMEOUT = 900.0
"""Seconds after which a start counts as failed; it is stopped then."""

ROOM = 16_384
"""Bytes that the record and the first lines of the log take."""

WAIT = 0.1
"""Seconds between two looks at the record of a stack."""

ANOTHER_RUNS = 75
"""The exit code of a supervisor that finds the folder locked by another (EX_TEMPFAIL)."""

CANNOT_START = "cannot start: "
"""What a report begins with that says why there was no start."""

REPORT_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""What every report in the log begins with."""

STOP_GRACE = 90.0
"""Seconds a stack may take to stop in good order."""


async def serve(
    folder: DataFolder, report: Report, *, api: ApiAddress, on_ready: Callable[[StackState], None]
) -> bool:
    """Run the stack until SIGTERM or SIGINT. Gives whether it was ready before. Raises as
    `stack.run_stack` does.
    """
    # Commands that start or stop a daemon load nothing of a stack.
    from embedded.stack import run_stack  # noqa: PLC0415
    from embedded.supervisor import on_stop_signal  # noqa: PLC0415

    task = asyncio.current_task()
    has_answered = False
    assert task is not None
    with on_stop_signal(task.cancel):
        try:
            async with run_stack(folder, report, api=api) as state:
                has_answered = True
                on_ready(state)
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            task.uncancel()
    return has_answered


def running_state(folder: DataFolder, report: Report) -> StackState | None:
    """Wait while another process starts or stops a stack in the folder, and return the state of one
    that is ready.

    None when none runs. Raises ConfigurationError when the other is not ready in time.
    """
    end = time.monotonic() + START_TIMEOUT
    waits = False
    while folder.is_running():
        state = folder.read()
        if state.phase == "ready":
            return state
        if time.monotonic() > end:
            raise ConfigurationError(
                f"the stack in {folder.path} is {state.phase} since {START_TIMEOUT:.0f} s"
            )
        if not waits:
            report(
                f"the stack in {folder.path} is being started or stopped by another process: "
                "waiting for it"
            )
        waits = True
        time.sleep(WAIT)
    return None


def start(folder: DataFolder, report: Report, *, api: ApiAddress | None = None) -> StackState:
    """Start a supervisor in the background and wait until its stack is ready; or until another's
    is, which is there. Without `api` it has the address that the environment names.

    Raises ConfigurationError with the reason when it is not; nothing is left running then.
    """
    address = api or configured_address()
    with folder_errors():
        make_private(folder.path)
        while True:
            if state := running_state(folder, report):
                return state
            _require_room(folder.path)
            if state := _start_own(folder, report, address):
                return state


def _require_room(folder: Path) -> None:
    """Raises OSError where a process in the background could not even write down why it does not
    start.
    """
    probe = folder / "room.probe"
    try:
        probe.write_bytes(b"\1" * ROOM)
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


def _start_own(folder: DataFolder, report: Report, api: ApiAddress) -> StackState | None:
    """Start a supervisor and wait for its stack. None when another process was faster."""
    log = folder.path / LOG
    with open_private(log) as output:
        start_offset = offset = output.tell()
        child = subprocess.Popen(  # noqa: S603
            [
                sys.executable,
                "-m",
                "embedded.daemon",
                str(folder.path),
                api.host,
                str(api.port or 0),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd=folder.path,
            umask=UMASK,
        )
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        code = child.poll()
        offset = _relay(log, offset, report)
        state = folder.read()
        if code == ANOTHER_RUNS:
            return None
        if code is not None:
            raise ConfigurationError(
                _refusal(log, start_offset)
                or f"the supervisor ended with code {code}; its log is {log}"
            )
        if (
            state.phase == "ready"
            and state.supervisor is not None
            and state.supervisor.pid == child.pid
        ):
            return state
        time.sleep(WAIT)
    child.terminate()
    child.wait(STOP_GRACE)
    raise ConfigurationError(
        f"the stack was not ready within {START_TIMEOUT:.0f} s; the log is {log}"
    )


def stop(folder: DataFolder) -> bool:
    """Stop the stack of the folder, or what a killed supervisor left of it. Gives whether there was
    anything.

    A folder that cannot be written keeps nothing from being stopped: then only the record stays as
    it was.
    """
    state = folder.read()
    running_now = folder.is_running()
    if running_now and state.supervisor is not None:
        orphans.terminate([state.supervisor], grace=STOP_GRACE)
    if not (folder.path).is_dir():
        return False
    if not (folder.path / LOCK_FILE).exists():
        return False
    with folder_errors(), folder.lock():
        state = folder.read()
        orphan_count = end_orphans(folder, state)
        if state.phase != "stopped" or orphan_count:
            state.phase = "stopped"
            state.supervisor = None
            with suppress(OSError):
                folder.write(state)
    return running_now or orphan_count > 0


def _relay(log: Path, offset: int, report: Report) -> int:
    """Pass on what was reported behind byte `offset`, without the times, and return where it ends.

    The rest of the log is not passed on, nor why there was no start: see `_refusal`.
    """
    with log.open("rb") as file:
        file.seek(offset)
        for line in file:
            if not line.endswith(b"\n"):
                break
            offset += len(line)
            time_of_line, _, text = line.decode("utf-8", "replace").partition(" ")
            if REPORT_TIME.fullmatch(time_of_line) and not text.startswith(CANNOT_START):
                report(text.rstrip())
    return offset


def _refusal(log: Path, offset: int) -> str:
    """Return why the supervisor whose log begins at byte `offset` did not start; empty where it
    does not say.
    """
    with log.open("rb") as file:
        file.seek(offset)
        text = file.read().decode("utf-8", "replace")
    return text.partition(f"Z {CANNOT_START}")[2].strip()


def main() -> None:
    """Entry point of the background process."""
    folder = DataFolder(Path(sys.argv[1]))
    api = ApiAddress(sys.argv[2], int(sys.argv[3]) or None)

    def report(line: str) -> None:
        with suppress(OSError):  # a full disk: the stack goes on without this line
            sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
            sys.stderr.flush()

    try:
        asyncio.run(
            serve(
                folder,
                report,
                api=api,
                on_ready=lambda state: report(f"the stack is ready: {state.api}"),
            )
        )
    except Busy:
        raise SystemExit(ANOTHER_RUNS) from None
    except (ConfigurationError, InvalidInput) as error:
        report(f"{CANNOT_START}{error}")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
