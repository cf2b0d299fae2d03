"""`lightstream erase` killed again and again on a running stack: given once more it ends, and
nothing is left.
"""

import re
import subprocess

import pytest

from tests.support.commands import LIGHTSTREAM
from tests.support.stack import Stack, environment, until
from tests.support.stored_bytes import files_with

CANARY = b"Quillmarrow"
OTHER = {
    "harbour.txt": (
        "Ada Marlow leads the Harbour Office in Port Elm. Celia Finch works at the Harbour Office."
    )
}
SECRET = (
    "Zephyrine Quillmarrow met Ada Marlow in Port Elm. Zephyrine Quillmarrow sold the Kestrel to "
    "Celia Finch. "
)
LONG = SECRET * 10 + "and so on, day after day, without any news. " * 5000
"""Too long for an event: it stands beside the log."""

ERASE = ("erase", "secret.txt", "--yes", "--workspace", "killed")


STRIDE = 3
"""Steps from one kill to the next: each erasure stops and starts the stack. A kill at every single
step is tried without one, in tests/integration/test_killed_erasure.py.
"""


def kill_at_new_step(stack: Stack, seen: set[str]) -> bool:
    """Kill the erasure at its third step that is not among those, and add the three; return False
    when it had fewer.

    Lines that differ by numbers alone are one step: how many there are goes by how fast the machine
    is.
    """
    new_steps = 0
    command = [LIGHTSTREAM, *ERASE, "--data", str(stack.folder)]
    with subprocess.Popen(
        command,
        env=environment(stack.env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if (step := re.sub(r"\d+", "", line)) not in seen:
                seen.add(step)
                new_steps += 1
            if new_steps == STRIDE:
                process.kill()
                return True
    return False


@pytest.mark.nightly  # at every step, without a stack: tests/integration/test_killed_erasure.py
def test_an_erasure_that_is_killed_is_given_once_more(stack: Stack) -> None:
    stack.add(OTHER, "unharmed")
    stack.add({**OTHER, "secret.txt": LONG}, "killed")
    stack.settled(1, "unharmed")
    stack.settled(2, "killed")
    assert files_with(stack.folder, CANARY)

    steps: set[str] = set()
    while kill_at_new_step(stack, steps):
        pass
    assert len(steps) > 3, "it was killed at several of its steps"
    outcome = stack.run(*ERASE)

    assert (outcome.returncode, "erased already" in outcome.stderr) in {(0, False), (2, True)}, (
        outcome.stderr
    )
    assert files_with(stack.folder, CANARY) == []
    assert stack.digest("killed") == stack.digest("unharmed")

    def found_well() -> bool | None:
        return stack.run("doctor").returncode == 0 or None

    until(found_well, lambda: stack.run("doctor").stdout)
