"""How fast does a rebuild read the log, beside the rate at which the same events came about?

    python -m benchmarks.rebuild [--count 2000]

Starts a stack of its own, adds documents, waits until they are processed, then rebuilds each projection. Prints a table
in Markdown; the last column is the rate of the rebuild divided by that of live indexing, in the same run.
"""

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.ten_thousand import document
from tests.support.stack import running

TARGETS = ("status", "graph", "vectors", "all")


def main() -> None:
    """Run it and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=2000)
    count = arguments.parse_args().count
    with running(Path(tempfile.mkdtemp()) / "data") as stack:
        began = time.monotonic()
        stack.add({f"{n:06d}.txt": document(n, hub=False) for n in range(count)})
        stack.settled(count)
        seconds = time.monotonic() - began
        events = len(stack.run("log", "--json").stdout.splitlines())
        live = events / seconds
        before = stack.digest()
        print("| what | events | seconds | events/s | of live |\n|---|---|---|---|---|")
        print(f"| live indexing | {events} | {seconds:.1f} | {live:.0f} | 1.0 |", flush=True)
        for target in TARGETS:
            done = stack.json("rebuild", target)
            assert stack.digest() == before, f"rebuild {target} gave another digest"
            rate = done["events_per_second"]
            print(f"| rebuild {target} | {events} | {events / rate:.1f} | {rate:.0f} | {rate / live:.1f} |", flush=True)


if __name__ == "__main__":
    main()
