"""Forked workers give a run the outcomes that one process gives it, survive those that die, and end
when they are to.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.architecture.sources import REPOSITORY
from tests.support.interruption import interruptible
from tests.support.waiting import PATIENCE

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(REPOSITORY),
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}

OUTCOMES = """
import os
import sys
import warnings

import pytest

KEPT_STREAM = sys.stderr

@pytest.fixture(scope="module")
def account():
    with open("accounts", "a") as opened:
        opened.write("opened ")
    yield "account"
    with open("accounts", "a") as closed:
        closed.write("closed ")

@pytest.fixture
def breaking():
    yield
    raise ValueError("at the end")

def test_passes(account, tmp_path):
    (tmp_path / "file").touch()

def test_fails(account):
    print("words of the test")
    print("words to a stream that was kept", file=KEPT_STREAM)
    assert account == "another"

def test_breaks_at_its_end(breaking): pass

@pytest.mark.skip(reason="not here")
def test_is_skipped(): pass

@pytest.mark.xfail(strict=True)
def test_fails_as_expected(): assert False

def test_warns():
    warnings.warn("an old call", DeprecationWarning)
"""

DYING = """
import os
import signal
import threading

def test_leaves_a_thread(): threading.Thread(target=threading.Event().wait).start()
def test_dies(): os.kill(os.getpid(), signal.SIGKILL)
def test_leaves(): os._exit(0)
def test_leaves_another_thread(): test_leaves_a_thread()
"""

PASSING = """
def test_passes(): pass
"""

WAITING = """
import time

import pytest

@pytest.fixture
def stack():
    yield
    open("ended-" + __name__, "w").close()

def test_waits(stack):
    open("begun-" + __name__, "w").close()
    for _ in range(6000):
        time.sleep(0.1)  # an interruption that comes right before a sleep is known only after it

def test_is_never_begun(): pass
"""

THREAD = """
import threading
threading.Thread(target=threading.Event().wait, name="of a library", daemon=True).start()
"""


def command(*options: str) -> list[str]:
    plugin = ["-p", "tests.support.forked_workers"]
    return [sys.executable, "-m", "pytest", *plugin, "--junitxml=outcomes.xml", *options]


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").touch()
    return subprocess.run(
        command(*options),
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def outcomes(folder: Path) -> dict[str, list[str]]:
    """What happened to each test, by its file and name."""
    cases = ElementTree.parse(folder / "outcomes.xml").iter("testcase")
    return {
        f"{case.get('classname')}.{case.get('name')}": [part.tag for part in case] for case in cases
    }


def test_outcomes_are_those_of_one_process(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text(OUTCOMES)
    (tmp_path / "test_second.py").write_text(PASSING)
    alone = run(tmp_path)
    of_one_process = outcomes(tmp_path)
    forked = run(tmp_path, "--forks=2")
    assert outcomes(tmp_path) == of_one_process
    assert forked.returncode == alone.returncode == pytest.ExitCode.TESTS_FAILED
    assert counts(forked.stdout) == counts(alone.stdout)
    assert "1 warning" in counts(forked.stdout)
    for words in ("words of the test", "words to a stream that was kept"):
        assert forked.stdout.count(words) == alone.stdout.count(words)
    assert "DeprecationWarning: an old call" in forked.stdout
    assert (tmp_path / "accounts").read_text() == "opened closed " * 2  # of both runs


def counts(output: str) -> str:
    """The last line, without the seconds."""
    return re.sub(r" in .*", "", output.splitlines()[-1]).strip("= ")


def test_a_worker_that_dies_fails_its_test_alone(tmp_path: Path) -> None:
    (tmp_path / "test_dying.py").write_text(DYING)
    (tmp_path / "test_passing.py").write_text(PASSING)
    dead = run(tmp_path, "--forks=2")
    assert dead.returncode == pytest.ExitCode.TESTS_FAILED
    assert outcomes(tmp_path) == {
        "test_dying.test_leaves_a_thread": [],
        "test_dying.test_dies": ["failure"],
        "test_dying.test_leaves": ["failure"],
        "test_dying.test_leaves_another_thread": [],
        "test_passing.test_passes": [],
    }
    assert "crashed at test_dying.py::test_dies: killed by SIGKILL" in dead.stdout
    assert "crashed at test_dying.py::test_leaves: ended with code 0" in dead.stdout


def test_failed_tests_end_a_run_that_is_to_end_then_and_are_known_to_the_next(
    tmp_path: Path,
) -> None:
    for file in ("test_first.py", "test_second.py"):
        (tmp_path / file).write_text("def test_fails(): assert False\n" + PASSING * 2)
    first = run(tmp_path, "--forks=2", "-x")
    assert "stopping after" in first.stdout
    assert not any(name.endswith("test_passes") for name in outcomes(tmp_path)), first.stdout
    last_failed = run(tmp_path, "--forks=2", "--last-failed")
    assert all(name.endswith("test_fails") for name in outcomes(tmp_path)), last_failed.stdout


def test_an_interrupted_run_takes_down_what_its_tests_have_set_up(tmp_path: Path) -> None:
    for file in ("test_first.py", "test_second.py"):
        (tmp_path / file).write_text(WAITING)
    with interruptible():
        process = subprocess.Popen(
            command("--forks=2", "--capture=no"),
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    assert process.stdout is not None
    with process:
        while len([*tmp_path.glob("begun-*")]) < 2:
            assert process.poll() is None, process.stdout.read()
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert {path.name for path in tmp_path.glob("ended-*")} == {
        "ended-test_first",
        "ended-test_second",
    }


@pytest.mark.parametrize(
    ("beginning", "cause"),
    [(THREAD, "of a library"), ("import nowhere", "No module named 'nowhere'")],
)
def test_no_worker_is_forked_where_that_would_go_wrong(
    tmp_path: Path, beginning: str, cause: str
) -> None:
    (tmp_path / "test_first.py").write_text(beginning + PASSING)
    (tmp_path / "test_second.py").write_text(PASSING)
    refusal = run(tmp_path, "--forks=2")
    assert cause in refusal.stdout + refusal.stderr
    assert outcomes(tmp_path).get("test_second.test_passes") is None
