"""A bit of the log that flips while nothing runs is found by the background audit and told."""

from pathlib import Path

import pytest

from tests.support.stack import Stack, running, until

WORD = b"Harbourmistress"
TEXTS = {f"note-{number}.txt": f"Note {number} is of no interest." for number in range(6)}
DAMAGED = {"damaged.txt": f"The {WORD.decode()} signed the ledger."}
PART = "--part=10"
"""What the background audit reads at a time, in seconds of CPU."""


def flip_a_bit(stack: Stack) -> None:
    """Flip one bit of the event that holds WORD, in the one block of the log that has it."""
    blocks = list(stack.folder.rglob("streams/KB_EVENTS/msgs/*.blk"))
    (block,) = (path for path in blocks if WORD in path.read_bytes())
    data = bytearray(block.read_bytes())
    data[data.index(WORD)] ^= 1
    block.write_bytes(bytes(data))


def problems_told(stack: Stack) -> dict[str, str]:
    """The problems on the query service's health page, which follows within seconds."""
    with stack.client() as client:
        return client.get("/health/ready").json().get("problems", {})


@pytest.mark.nightly  # what it finds: tests/integration/test_rolling_audit.py
def test_a_flipped_bit_of_the_log_is_found_by_the_background_audit_and_told(tmp_path: Path) -> None:
    with running(tmp_path / "data") as stack:
        stack.add(TEXTS | DAMAGED)
        assert stack.settled(len(TEXTS | DAMAGED))["processed"] == len(TEXTS | DAMAGED)
        assert stack.json("audit", PART)["problems"] == []
        stack.down()
        flip_a_bit(stack)
        stack.up()
        assert stack.run("doctor").returncode == 0, "nats-server says nothing of it"

        part = stack.run("audit", PART, "--json")

        assert part.returncode == 1, part.stdout
        problems = until(lambda: problems_told(stack), stack.logs)
        assert "the log has lost messages (audit: " in problems["log"]
        examined = stack.run("doctor").stdout
        assert "FAIL  the log has lost messages: audit: the chain of workspace default" in examined
        assert "`lightstream repair`" in examined
