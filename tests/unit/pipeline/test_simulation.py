"""The simulated pipeline ends as an untroubled one whatever goes wrong, and finds the bugs that are
planted in it.
"""

import signal
import subprocess
import sys

import pytest

from tests.support.interruption import interruptible
from tests.support.shares import share

SEEDS_OF_A_BUG = 40
"""Seeds of which the first that finds a planted bug ends the run: what a seed does changes with
each call that the pipeline makes.
"""


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m tests.simulation`, which fixes the order of sets, and so what a seed does."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.parametrize(
    "first",
    share(range(0, 1000, 50), daily=1),
)
def test_kills_outages_rebuilds_repeats_and_disorder_change_nothing_in_the_end(first: int) -> None:
    process = simulate("--first", str(first), "--seeds", "50")
    assert process.returncode == 0, process.stdout
    assert process.stdout.startswith("50 seeds, 0 failed:")


@pytest.mark.parametrize(
    ("bug", "first"),
    share(
        [
            ("passages-not-compared", 438),
            ("results-of-a-batch-lost", 3),
            ("nothing-cached", 96),
            ("changes-counted-again-not-summarised", 284),
            ("failed-passage-leaves-its-older-version", 17),
            ("undoing-changes-nothing", 496),
            ("parked-event-forgotten", 13),
            ("retry-has-the-ids-of-before", 16),
            ("clock-believed", 1072),
        ],
        daily=3,
    ),
)
def test_a_planted_bug_is_found(bug: str, first: int) -> None:
    process = simulate("--planted", bug, "--first", str(first), "--seeds", str(SEEDS_OF_A_BUG))
    assert process.returncode == 0, process.stdout
    assert "again: python -m tests.simulation --seed" in process.stdout


def test_an_interrupted_run_says_how_to_go_on() -> None:
    command = [sys.executable, "-m", "tests.simulation", "--first", "7", "--seeds", "100000"]
    with (
        interruptible(),
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run,
    ):
        assert run.stderr is not None
        assert run.stderr.readline() == "10 of 100000 seeds, 0 failed\n"
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=60)
    assert run.returncode == 130
    seed_count = int(output.partition(" ")[0])
    assert seed_count >= 10
    arguments = f"--first {7 + seed_count} --seeds {100000 - seed_count}"
    assert f"go on: python -m tests.simulation {arguments}\n" in output
