"""The parent process of the servers that all workers of a test run share.

`python tests/support/server_host.py SOCKET` starts what it is asked for on the Unix socket and ends
everything when its standard input closes: the run that started it holds the other end, so nothing
outlives the run, however that ends.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

GRACE = 15.0
"""Seconds between SIGTERM and SIGKILL."""


def start(socket_path: Path, argv: list[str], folder: Path, env: dict[str, str], log: Path) -> int:
    """Ask the host at that socket to start a server; return the server's pid."""
    request = {"argv": argv, "folder": str(folder), "env": env, "log": str(log)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(socket_path))
        connection.sendall(json.dumps(request).encode())
        connection.shutdown(socket.SHUT_WR)
        return int(connection.makefile().read())


def main() -> None:
    """Serve requests until standard input closes, then end all servers."""
    children: list[subprocess.Popen[bytes]] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{sys.argv[1]}.new")
        listener.listen()
        Path(f"{sys.argv[1]}.new").rename(sys.argv[1])  # who finds it can connect
        while True:
            readable, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in readable:
                break
            _answer(listener, children)
    _end(children)


def _answer(listener: socket.socket, children: list[subprocess.Popen[bytes]]) -> None:
    connection, _ = listener.accept()
    with connection:
        request: dict[str, Any] = json.loads(connection.makefile().read())
        with Path(request["log"]).open("ab") as log:
            child = subprocess.Popen(
                request["argv"],
                cwd=request["folder"],
                env=request["env"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        children.append(child)
        connection.sendall(str(child.pid).encode())


def _end(children: list[subprocess.Popen[bytes]]) -> None:
    """SIGTERM to all at once, SIGKILL to the process groups of those that do not end within the
    grace.
    """
    for child in children:
        child.terminate()
    end = time.monotonic() + GRACE
    while time.monotonic() < end and any(child.poll() is None for child in children):
        time.sleep(0.05)
    for child in children:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


if __name__ == "__main__":
    main()
