"""A program for tests of the fork server: it writes what it is, waits for SIGTERM, and ends with
the code `CODE`.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path


def main() -> None:
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.set())
    result = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "session": os.getsid(0) == os.getpid(),
        "folder": str(Path.cwd()),
        "program": sys.orig_argv[1:],
        "shown": Path("/proc/self/cmdline").read_text("utf-8").split("\0")[1:3],
        "imported": "services.gateway.main" in sys.modules and "pymilvus" in sys.modules,
    }
    print(json.dumps(result), flush=True)
    while not stopping.wait(0.1):
        pass
    sys.exit(int(os.environ["CODE"]))


if __name__ == "__main__":
    main()
