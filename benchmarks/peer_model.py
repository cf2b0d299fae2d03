"""The language and embedding model of the tests as a process of its own, so that nobody who is measured pays for it.

    python -m benchmarks.peer_model [--latency 50] [--varied]

Prints its address; then answers each line on standard input with what it was asked until then, as JSON. It ends with
its standard input. `--latency`: milliseconds of a chat call; `--varied`: each passage says something of its own.
"""

import argparse
import json
import sys
import time

from tests.support.language_model import serving


def main() -> None:
    """Serve until standard input ends."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--latency", type=float, default=0.0)
    arguments.add_argument("--varied", action="store_true")
    asked = arguments.parse_args()
    with serving() as model:
        model.latency, model.varied = asked.latency / 1000, asked.varied
        print(model.url, flush=True)
        for _ in sys.stdin:
            chat = model.calls.total() - model.calls["embed"]
            seen = {"chat": chat, "embed": model.calls["embed"], "texts": model.embedded, "cpu": time.process_time()}
            print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main()
