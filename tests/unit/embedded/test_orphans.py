"""Which process is ours, and that no other is ever ended."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from embedded import orphans
from embedded.data_folder import Child, DataFolder, StackState, end_orphans
from embedded.orphans import ProcessIdentity, runs_in

Start = Callable[..., subprocess.Popen[bytes]]

DEAF = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, "
    "flush=True); time.sleep(60)"
)


@pytest.fixture(autouse=True, params=["/proc", "psutil"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes are read: as on Linux, and as on systems without /proc."""
    if request.param == "psutil":
        monkeypatch.setattr(orphans, "PROC", tmp_path / "none")


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a child in a session of its own, as a stack does."""
    children: list[subprocess.Popen[bytes]] = []

    def one(
        folder: Path, code: str = "print(1, flush=True); import time; time.sleep(60)"
    ) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, start_new_session=True
        )
        children.append(child)
        assert child.stdout is not None
        child.stdout.readline()
        return child

    yield one
    for child in children:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def test_a_process_lives_until_it_has_ended(start: Start, tmp_path: Path) -> None:
    child = start(tmp_path)
    identity = ProcessIdentity.of(child.pid)
    assert identity.alive
    child.kill()
    assert orphans.wait_for_exit([identity], 5.0), "a process nobody has waited for counts as ended"
    child.wait()
    assert not identity.alive
    assert not ProcessIdentity.of(child.pid).alive


def test_a_later_process_with_the_same_pid_is_another(start: Start, tmp_path: Path) -> None:
    child = start(tmp_path)
    earlier = ProcessIdentity(child.pid, ProcessIdentity.of(child.pid).started - 1)
    assert not earlier.alive
    assert not runs_in(earlier, tmp_path)


def test_what_a_killed_supervisor_left_is_ended_and_nothing_else(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "data" / "bus").mkdir(parents=True)
    (tmp_path / "data-of-another").mkdir()
    ours = start(tmp_path / "data" / "bus")
    strangers = start(tmp_path / "data-of-another")
    reused_process = start(tmp_path / "data" / "bus")
    state = StackState(
        children={
            "ours": Child(ProcessIdentity.of(ours.pid)),
            "stranger": Child(ProcessIdentity.of(strangers.pid)),
            "pid used again": Child(ProcessIdentity(reused_process.pid, 1)),
            "gone": Child(ProcessIdentity(2**22 - 1, 5)),
        }
    )
    assert end_orphans(DataFolder.at(tmp_path / "data"), state) == 1
    assert ours.wait(5) == -15
    assert strangers.poll() is None
    assert reused_process.poll() is None
    assert state.children == {}


def test_a_process_that_ignores_the_signal_is_killed_after_the_grace(
    start: Start, tmp_path: Path
) -> None:
    child = start(tmp_path, DEAF)
    since = time.monotonic()
    orphans.terminate([ProcessIdentity.of(child.pid)], grace=0.3)
    assert child.wait(5) == -9
    assert 0.3 <= time.monotonic() - since < 5
