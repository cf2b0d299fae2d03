"""A program that becomes another one by way of the host of programs: its streams, arguments, folder
and environment.

`python -S -E forked_command.py SOCKET MODULE ARGUMENT …` is for what must be given a command line
to start, an MCP client for example. It costs 0.05 seconds of CPU, hands SIGTERM and SIGINT on, and
ends with the same exit code. Killed, it takes the program with it.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support import command_host


def main() -> int:
    """Run the program and return its exit code."""
    host, module, *arguments = sys.argv[1:]
    program = command_host.Program(module, arguments, {**os.environ}, str(Path.cwd()))
    connection, pid = command_host.start(Path(host), program, (0, 1, 2))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: os.kill(pid, number))
    with connection:
        # The program alone reads and writes: who waits for the end of its output must not wait for
        # this one, too.
        for stream in (0, 1):
            os.close(stream)
        return int(connection.recv(64) or -signal.SIGKILL)


if __name__ == "__main__":
    os._exit(main() & 0xFF)
