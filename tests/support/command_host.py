"""The process of a test run that has imported the command line, and becomes each command by forking.

`python -m tests.support.command_host SOCKET` serves on that Unix socket. A connection brings one command: a line of
JSON with `arguments`, `env` (the whole environment) and `folder` (the working directory), and the descriptors of its
standard input, output and error. It is answered with the exit code. A client that hangs up ends its command.

A run gives some four hundred commands. As programs they cost 0.5 to 1.6 seconds of CPU each, nearly all of it for
imports.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

IMPORTED = ("standalone.cli", "standalone.operations", "standalone.embedded", "standalone.mcp")
"""Packages whose every module is imported before the first command."""

_REQUEST = 1 << 20
"""Bytes that a request has at most; no environment is as long."""


def main() -> None:
    """Serve until SIGTERM; in a forked process, be the command."""
    listener = socket.socket(socket.AF_UNIX)
    preload()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that hold a connection
    with listener:
        listener.bind(sys.argv[1])
        listener.listen()
        command = _taken(listener)
    gc.enable()
    sys.modules["__main__"].__package__ = None  # a module that was started would be named in usages instead of argv
    sys.argv = ["lightstream", *command["arguments"]]
    import_module("standalone.cli").main()


def preload() -> None:
    """Import what commands import, and check that a fork copies all of this process."""
    gc.disable()
    for name in IMPORTED:
        for module in walk_packages(import_module(name).__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    forking = import_module("standalone.embedded.fork_server")
    import_module("runtime.stores.open").import_drivers(import_module("runtime.settings").Settings())
    gc.freeze()
    assert not forking.has_threads(), "a fork would copy one thread of several"


def _taken(listener: socket.socket) -> dict[str, Any]:
    """Fork for each connection; return the command in the process that is to be it."""
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            return _command(connection)
        connection.close()


def _command(connection: socket.socket) -> dict[str, Any]:
    """Read the request and fork once more: the child returns it, this process waits for the child and never returns."""
    request, descriptors, _, _ = socket.recv_fds(connection, _REQUEST, 3)
    while not request.endswith(b"\n"):
        request += connection.recv(_REQUEST)
    command: dict[str, Any] = json.loads(request)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if not (child := os.fork()):
        connection.close()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(command["folder"])
        os.environ.clear()
        os.environ.update(command["env"])
        return command
    for descriptor in descriptors:
        os.close(descriptor)
    _watch(connection, child)
    os._exit(0)


def _watch(connection: socket.socket, child: int) -> None:
    """Answer with the exit code of the child, or kill it when nobody waits for that any more."""
    ended = os.pidfd_open(child)
    readable, _, _ = select.select([ended, connection], [], [])
    if ended not in readable:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        connection.sendall(str(code).encode())


def run(host: Path, command: dict[str, Any], streams: tuple[int, int, int], seconds: float) -> int:
    """Have a command run; return its exit code. Raises TimeoutError after so many seconds, with the command killed."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        connection.connect(str(host))
        request = json.dumps(command).encode() + b"\n"
        sent = socket.send_fds(connection, [request], streams)
        connection.sendall(request[sent:])
        answer = connection.recv(64)
        assert answer, "the host of commands has ended"
        return int(answer)


if __name__ == "__main__":
    main()
