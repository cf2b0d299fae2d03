"""The simulated pipeline ends as an untroubled one whatever goes wrong, and finds the bugs that are planted in it."""

import subprocess
import sys

import pytest


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m tests.simulation`, which fixes the order of sets, and so what a seed does."""
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *arguments], capture_output=True, text=True, check=False, timeout=600
    )


def test_kills_failures_repeats_and_disorder_change_nothing_in_the_end() -> None:
    done = simulate("--seeds", "60")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("60 seeds, 0 failed:")


@pytest.mark.parametrize(
    ("bug", "first"),
    [
        ("passages-deleted-though-newer", 13),
        ("older-chunks-written-last", 3),
        ("edit-seen-late", 101),
        ("passages-not-compared", 0),
        ("results-of-a-batch-lost", 0),
        ("nothing-cached", 3),
    ],
)
def test_a_planted_bug_is_found(bug: str, first: int) -> None:
    done = simulate("--planted", bug, "--first", str(first), "--seeds", "60")
    assert done.returncode == 0, done.stdout
    assert "again: python -m tests.simulation --seed" in done.stdout
