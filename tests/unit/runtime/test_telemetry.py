"""Logs of a process whose standard error takes nothing."""

import subprocess
import sys
from pathlib import Path

LOGGING = """
import structlog
from runtime import telemetry

telemetry.configure("trial")
for _ in range(1000):
    structlog.get_logger().warning("could not look at a store", error="x" * 100)
print("went on")
"""


def test_a_log_that_cannot_be_written_ends_nothing_else() -> None:
    with Path("/dev/full").open("w") as full_disk:
        process = subprocess.run(
            [sys.executable, "-c", LOGGING], stdout=subprocess.PIPE, stderr=full_disk, check=False
        )
    assert process.stdout == b"went on\n"
