"""Tests that failed are asked again alone: few, only those, and the run is as good as what they
then say.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import REPOSITORY
from tests.support.again import CACHE, MOST

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(REPOSITORY),
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}

TESTS = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_needs_a_file(number):
    with open("asked", "a") as asked:
        asked.write("failing ")
    assert Path("there").exists()

def test_passes():
    with open("asked", "a") as asked:
        asked.write("passing ")
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    python = [sys.executable, "-m", *command]
    return subprocess.run(
        python, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )


def failed_run(folder: Path, count: int, files: int = 1) -> None:
    """A run beside others, in which as many tests of each file failed and one passed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    for number in range(files):
        (folder / f"test_some_{number}.py").write_text(TESTS.format(count=count))
    assert run(folder, "pytest", "-o", f"cache_dir={CACHE}", ".").returncode == 1
    (folder / "asked").unlink()


@pytest.mark.parametrize(
    ("is_mended", "code", "verdict"),
    [(True, 0, "passed alone, a fault of the test"), (False, 1, "Failed alone, too")],
)
def test_what_failed_is_asked_again_and_named(
    tmp_path: Path, is_mended: bool, code: int, verdict: str
) -> None:
    failed_run(tmp_path, count=5)
    if is_mended:
        (tmp_path / "there").touch()
    again = run(tmp_path, "tests.support.again", ".")
    assert (again.returncode, verdict in again.stdout) == (code, True), again.stdout
    assert (tmp_path / "asked").read_text() == 5 * "failing "
    last_lines = again.stdout.splitlines()[-5:]
    assert last_lines == [f"  test_some_0.py::test_needs_a_file[{number}]" for number in range(5)]


def test_those_of_more_than_a_few_files_are_not_asked_again(tmp_path: Path) -> None:
    failed_run(tmp_path, count=1, files=MOST + 1)
    (tmp_path / "there").touch()
    again = run(tmp_path, "tests.support.again", ".")
    assert again.returncode == 1
    assert f"{MOST + 1} tests of {MOST + 1} files failed" in again.stdout
    assert not (tmp_path / "asked").exists()
