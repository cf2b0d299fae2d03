"""`lightstream erase` killed again and again on a running stack: given once more it ends, and nothing is left."""

import subprocess

from tests.support.commands import LIGHTSTREAM
from tests.support.stack import Stack, environment, until
from tests.support.stored_bytes import files_with

CANARY = b"Quillmarrow"
OTHER = {"harbour.txt": "Ada Marlow leads the Harbour Office in Port Elm. Celia Finch works at the Harbour Office."}
SECRET = "Zephyrine Quillmarrow met Ada Marlow in Port Elm. Zephyrine Quillmarrow sold the Kestrel to Celia Finch. "
LONG = SECRET * 10 + "and so on, day after day, without any news. " * 5000
"""Too long for an event: it stands beside the log."""

ERASE = ("erase", "secret.txt", "--yes", "--workspace", "killed")


def kill_after(stack: Stack, lines: int) -> bool:
    """Kill the erasure behind so many lines of progress; return whether it was still at work."""
    command = [LIGHTSTREAM, *ERASE, "--data", str(stack.folder)]
    with subprocess.Popen(
        command, env=environment(stack.env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        read = [process.stderr.readline() for _ in range(lines)]
        process.kill()
        return all(read)


def test_an_erasure_that_is_killed_is_given_once_more(stack: Stack) -> None:
    stack.add(OTHER, "unharmed")
    stack.add({**OTHER, "secret.txt": LONG}, "killed")
    stack.settled(1, "unharmed")
    stack.settled(2, "killed")
    assert files_with(stack.folder, CANARY)

    lines = 1
    while kill_after(stack, lines):
        lines += 1
    assert lines > 3, "it was killed at several of its steps"
    done = stack.run(*ERASE)

    assert (done.returncode, "erased already" in done.stderr) in {(0, False), (2, True)}, done.stderr
    assert files_with(stack.folder, CANARY) == []
    assert stack.digest("killed") == stack.digest("unharmed")

    def found_well() -> bool | None:
        return stack.run("doctor").returncode == 0 or None

    until(found_well, lambda: stack.run("doctor").stdout)
