"""A stack restored from the backup of another one: the commands, and the digests that prove it."""

import subprocess
from pathlib import Path
from typing import Any

from tests.support import commands
from tests.support.stack import Stack, until

WORKSPACE = "harbour"


def test_a_restored_stack_has_the_digests_of_the_first(stack: Stack, tmp_path: Path) -> None:
    texts = {
        f"{number}.txt": f"Ada Keller {number} leads the Harbour Office of Odern."
        for number in range(6)
    }
    stack.add({**texts, "long.txt": "Odern keeps a long record of its ships. " * 8000}, WORKSPACE)
    assert stack.settled(7, WORKSPACE)["processed"] == 7
    copy = str(tmp_path / "copy")

    def quiet() -> dict[str, Any] | None:
        taken: dict[str, Any] = stack.json("backup", copy)
        return taken if not taken["undigested"] else None

    taken = until(quiet)
    assert taken["complete"] and taken["texts"] >= 1 and WORKSPACE in taken["digests"]
    verified = subprocess.run(
        [*commands.beginning(), "verify", copy], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0 and f"{taken['messages']} events" in verified.stdout, (
        verified.stderr
    )
    refusal = stack.run("restore", copy, "--yes")
    assert refusal.returncode == 2 and "a stack is running" in refusal.stderr

    other = Stack(tmp_path / "restored", stack.env)
    assert other.json("restore", copy)["would_restore"]["events"] == taken["messages"]
    assert not other.folder.exists(), "nothing is done without --yes"
    try:
        outcome = other.json("restore", copy, "--yes")
        assert outcome["digests"][WORKSPACE] == {"status": True, "graph": True, "vectors": True}
        assert other.digest(WORKSPACE) == stack.digest(WORKSPACE)
        with other.service(WORKSPACE) as service:
            assert service.status_counts()["processed"] == 7
        assert other.run("status").returncode == 0
    finally:
        other.down()
