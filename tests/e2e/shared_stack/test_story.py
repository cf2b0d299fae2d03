"""The story that the documentation tells runs to its end, and says what it should."""

import subprocess
import sys
from pathlib import Path

from tests.support import commands
from tests.support.stack import Stack, environment

PROGRAM = Path(__file__).resolve().parents[3] / "docs/examples/story.py"
IN_ORDER = (
    "(user:ann, group:council)\nBen Holt offered",
    "(user:bo, group:press)\nThe documents do not say.",
    "group:council sees it",
    "2 of 2 passed (100%)",
    "(tariff-amendment.md) supersedes",
    "ten shillings a week. [1]",
    "(tariff-amendment.md [1] supersedes tariff.md [2]",
    "evidence: the same\nprompt: the same\nanswer: the same",
    "3 documents: 3 processed",
    "branch short of story: chunks of 20 tokens",
    "? What is the mooring fee of a boat in Port Elm?\n  origin: ",
    "\n  branch: ",
    "branch short answers for story now",
    "2 of 2 golden questions pass; 2 of those asked before",
    "story answers itself again",
    "The letter is erased",
    "without the words of erased documents",
)


TOLD = """
import runpy, sys
sys.executable, *sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The program in a Python whose commands are forked: as programs they cost a second of CPU each."""


def test_the_story_is_told_to_its_end(stack: Stack, tmp_path: Path) -> None:
    forking = tmp_path / "python"
    forking.write_text(f'#!/bin/sh\nshift 2\nexec {" ".join(commands.beginning())} "$@"\n', "utf-8")
    forking.chmod(0o700)
    result = subprocess.run(
        (sys.executable, "-c", TOLD, forking, PROGRAM, stack.folder),
        env=environment({**stack.env, "LIGHTSTREAM_API_URL": stack.state.api}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    place = 0
    for words in IN_ORDER:
        place = result.stdout.find(words, place)
        assert place >= 0, f"{words!r} is missing in:\n{result.stdout}"
    _, _, end = result.stdout.partition("The letter is erased")
    assert "nine hundred" not in end
