"""The process of a test run that has imported commands and services, and becomes each of them by
forking.

`python -m tests.support.command_host SOCKET` serves on that Unix socket. A connection brings one
`Program` as a line of JSON, and the descriptors of its standard input, output and error, and of one
that it is told by its number. It is answered with the pid and, when the program has ended, with its
exit code, a line each.

A run starts some five hundred of them. As programs they cost 0.5 to 2.6 seconds of CPU each, nearly
all of it for imports.
"""

import atexit
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn

from embedded.fork_server import has_threads
from embedded.programs import service_module

IMPORTED = ("cli", "operations", "embedded", "mcp_server")
"""Packages whose every module is imported before the first program."""

SERVICES = ("chunker", "extractor", "merger", "indexer", "query")

PASSED = "{descriptor}"
"""The argument that is replaced by the number of the descriptor behind the three of input and
output.
"""

ROOM = {"COMMAND_HOST_ROOM": " " * 64_000}
"""What this process's environment must hold, for that of a forked one is shown in its place."""

_ENVIRONMENT_START = 47
_ENVIRONMENT_END = 48
"""Where /proc/<pid>/stat has the bounds of the environment, counted from the field behind the name
(proc(5)).
"""

_REQUEST = 1 << 20
"""Bytes that a request has at most; no environment is as long."""


@dataclass(frozen=True)
class Program:
    """A module whose `main` is called, as `python -m` does it with these arguments, this whole
    environment and folder.

    `session`: it leads a session of its own. `umask`: unless this process's. `outlives`: it goes on
    when the one who asked for it is gone.
    """

    module: str
    arguments: Sequence[str]
    env: Mapping[str, str]
    folder: str
    session: bool = False
    umask: int | None = None
    outlives: bool = False


def main() -> None:
    """Be the host of commands and services."""
    serve(preload)


def serve(preload: Callable[[Path], None]) -> None:
    """Serve until SIGTERM on the socket that is named; in a forked process, be the program."""
    listener = socket.socket(socket.AF_UNIX)
    preload(Path(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that hold a connection
    with listener:
        listener.bind(sys.argv[1])
        listener.listen()
        program = _taken(listener)
    gc.enable()
    module = import_module(program.module)
    sys.modules[
        "__main__"
    ].__package__ = None  # a module that was started would be named in usages instead of argv
    command = program.module == "cli"
    sys.argv = ["lightstream" if command else str(module.__file__), *program.arguments]
    sys.orig_argv = [
        sys.executable,
        "-m",
        program.module,
        *program.arguments,
    ]  # what starts itself again reads this
    _run(module.main)


def _run(main: Callable[[], None]) -> NoReturn:
    """Run it and end with its exit code, but take nothing apart of what was imported: that costs
    0.1 seconds of CPU.
    """
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def preload(socket_path: Path) -> None:
    """Import what programs import."""
    gc.disable()
    for name in IMPORTED:
        for module in walk_packages(import_module(name).__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    forking = import_module("embedded.fork_server")
    forking.preload([service_module(name) for name in SERVICES])
    for name in ("runtime.models.chat", "runtime.models.embedder", "httpcore"):
        import_module(name)
    import_module("cli").command()
    import_module(
        "services.gateway.app"
    ).create_app().openapi()  # half a second of CPU in each query service
    import_module("tests.support.hosted").fork_stacks(socket_path)
    freeze()


def freeze() -> None:
    """Let nothing be looked through that was imported, and check that a fork copies all of it."""
    gc.freeze()
    assert not has_threads(), "a fork would copy one thread of several"


def _taken(listener: socket.socket) -> Program:
    """Fork for each connection; return the program in the process that is to be it."""
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            return _program(connection)
        connection.close()


def _program(connection: socket.socket) -> Program:
    """Read the request and fork once more: the child returns it, this process waits for the child
    and never returns.
    """
    request, descriptors, _, _ = socket.recv_fds(connection, _REQUEST, 4)
    while not request.endswith(b"\n"):
        request += connection.recv(_REQUEST)
    program = Program(**json.loads(request))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A run in the background ignores it, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not (child := os.fork()):
        connection.close()
        return _become(program, descriptors)
    for descriptor in descriptors:
        os.close(descriptor)
    with suppress(OSError):
        connection.sendall(f"{child}\n".encode())
    _watch(connection, child, outlives=program.outlives)
    os._exit(0)


def _become(program: Program, descriptors: list[int]) -> Program:
    """Make this process what the started program would be."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if program.session:
        os.setsid()
    if program.umask is not None:
        os.umask(program.umask)
    os.chdir(program.folder)
    os.environ.clear()
    os.environ.update(program.env)
    _show(program.env)
    passed = str(descriptors[-1])
    return Program(
        **{
            **asdict(program),
            "arguments": [passed if a == PASSED else a for a in program.arguments],
        }
    )


def _show(env: Mapping[str, str]) -> None:
    """Let /proc/<pid>/environ, where commands look for a stack's settings, show what a started
    program's would.
    """
    fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    start = int(fields[_ENVIRONMENT_START])
    end = int(fields[_ENVIRONMENT_END])
    shown = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in env.items())
    assert len(shown) <= end - start, "COMMAND_HOST_ROOM is too small"
    ctypes.memmove(start, shown.ljust(end - start, b"\0"), end - start)


def _watch(connection: socket.socket, child: int, *, outlives: bool) -> None:
    """Answer with the exit code of the child, or kill it when nobody waits for that any more."""
    ended = os.pidfd_open(child)
    readable, _, _ = select.select([ended] if outlives else [ended, connection], [], [])
    if ended not in readable:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        connection.sendall(f"{code}\n".encode())


def start(host: Path, program: Program, descriptors: Sequence[int]) -> tuple[socket.socket, int]:
    """Have a program started: the connection on which its exit code comes, and its pid.

    Raises RuntimeError with the end of the host's log when nothing was started.
    """
    connection = socket.socket(socket.AF_UNIX)
    pid = b""
    try:
        connection.connect(str(host))
        request = json.dumps(asdict(program)).encode() + b"\n"
        sent = socket.send_fds(connection, [request], descriptors)
        connection.sendall(request[sent:])
        while not pid.endswith(b"\n"):
            read = connection.recv(1)  # not a byte of the exit code
            if not read:
                raise EOFError
            pid += read
    except (OSError, EOFError) as error:
        connection.close()
        log = "".join(path.read_text("utf-8", "replace") for path in host.parent.glob("*.log"))
        raise RuntimeError(f"the host started no program ({error!r}): {log[-2_000:]}") from None
    return connection, int(pid)


def run(host: Path, program: Program, streams: tuple[int, int, int], seconds: float) -> int:
    """Have a program run; return its exit code. Raises TimeoutError after so many seconds, with the
    program killed.
    """
    connection, _ = start(host, program, streams)
    with connection:
        connection.settimeout(seconds)
        answer = connection.recv(64)
        assert answer, "the host of commands has ended"
        return int(answer)


if __name__ == "__main__":
    main()
