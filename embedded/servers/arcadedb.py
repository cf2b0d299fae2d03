"""The embedded graph store: ArcadeDB from its wheel, a process of its own, spoken to over Bolt.

`python -m embedded.servers.arcadedb ROOT HTTP_PORT BOLT_PORT` takes the password of user
`root` from `ARCADEDB_PASSWORD`.
"""

import ctypes
import fcntl
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TextIO

from embedded.damage import find_truncated_graph_file, remove_lengths, write_lengths
from embedded.processes import Process, listening
from embedded.programs import import_path
from embedded.servers.java_machine import CLASSES_VARIABLE, start_java_machine
from embedded.stores import GRAPH
from runtime.errors import ConfigurationError, Unavailable

DATABASE = "neo4j"
"""Named like Neo4j's default, so that the same settings fit both."""

USER = "root"
HOST = "127.0.0.1"
PASSWORD_VARIABLE = "ARCADEDB_PASSWORD"  # noqa: S105
SHORTEST_PASSWORD = 8

START_TIMEOUT = 120.0
"""Seconds until the Java machine must answer: 3 on an idle machine, over a minute on one with much
else to do.
"""

_PR_SET_PDEATHSIG = 1


def bolt_uri(bolt_port: int) -> str:
    """Return the address for the driver."""
    return f"bolt://{HOST}:{bolt_port}"


def arcadedb(folder: Path, *, http_port: int, bolt_port: int, password: str) -> Process:
    """The server process over `folder`, ready when it answers a query.

    The heap is `ARC_HEAP` of the environment, 384m when it is not set. Raises ConfigurationError
    when the password is too short for the server.
    """
    _check(password)

    async def probe() -> None:
        if not listening(bolt_port):
            raise Unavailable(f"nobody speaks Bolt on port {bolt_port} yet")
        await _answer(http_port, password)

    argv = [
        sys.executable,
        "-m",
        "embedded.servers.arcadedb",
        str(folder / GRAPH.server.data),
        str(http_port),
        str(bolt_port),
    ]
    path = os.pathsep.join(filter(None, [import_path(), os.environ.get("PYTHONPATH", "")]))
    env = {PASSWORD_VARIABLE: password, "PYTHONPATH": path}
    return Process("arcadedb", argv, folder, probe, env=env, timeout=START_TIMEOUT)


async def _answer(http_port: int, password: str) -> None:
    """Return when the server answers a query; raises any error while it does not.

    It is asked over HTTP: the driver of Bolt would cost the supervisor 0.4 s and 20 MB.
    """
    # The server process imports this module too.
    from embedded.local_http import local_client  # noqa: PLC0415

    async with local_client(4.0) as client:
        url = f"http://{HOST}:{http_port}/api/v1/query/{DATABASE}"
        query = {"language": "opencypher", "command": "RETURN 1"}
        (await client.post(url, json=query, auth=(USER, password))).raise_for_status()


def run(root: Path, http_port: int, bolt_port: int, password: str) -> None:
    """Serve until SIGTERM or SIGINT, then end the process."""
    _check(password)
    root.mkdir(parents=True, exist_ok=True)
    lock = _lock_and_check(root)
    _end_with_parent()
    # It keeps the password of its first start; without this file it takes the one that the
    # environment names.
    (root / "config" / "server-users.jsonl").unlink(missing_ok=True)
    os.chdir(root)  # it writes its logs relative to the working directory

    # The wiring above is imported by processes that never start a Java machine.
    import gc  # noqa: PLC0415

    import arcadedb_embedded  # noqa: PLC0415

    from embedded.servers.arcadedb_clock import take_over_clock  # noqa: PLC0415

    start_java_machine()
    # Whenever the Java machine collects its garbage, JPype has Python collect all of its own, which
    # took a third of this process's CPU; and it makes none.
    gc.disable()
    # Only now: the Java machine installs handlers of its own.
    stopping = _set_by_signals()
    server = arcadedb_embedded.create_server(
        str(root),
        root_password=password,
        config={
            "host": HOST,
            "http_port": http_port,
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": bolt_port,
        },
    )
    server.start()
    server.create_database(DATABASE)
    set_clock = take_over_clock()
    while not stopping.wait(0.5):
        set_clock()
    server.stop()
    write_lengths(root.parent)
    lock.close()
    _end()


def _set_by_signals() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set."""
    event = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        event.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    return event


def _end() -> None:
    """End the process: with a Bolt connection open the Java machine would never let it end."""
    sys.stdout.flush()
    if os.environ.get(CLASSES_VARIABLE):
        import jpype  # noqa: PLC0415

        jpype.JClass("java.lang.System").exit(
            0
        )  # it writes its classes only when it ends by itself
    os._exit(0)


def _check(password: str) -> None:
    if len(password) < SHORTEST_PASSWORD:
        raise ConfigurationError(
            f"{PASSWORD_VARIABLE} must have at least {SHORTEST_PASSWORD} characters"
        )


def _lock_and_check(root: Path) -> TextIO:
    """Lock the folder and check its files. Raises ConfigurationError when it is locked, or a file
    is truncated.
    """
    lock = _lock(root)
    if why := find_truncated_graph_file(root.parent):
        raise ConfigurationError(f"the data are damaged and are not opened: {why}")
    remove_lengths(root.parent)
    return lock


def _lock(root: Path) -> TextIO:
    """Lock the folder for this process: two servers over one folder would damage it."""
    lock = (root / "lightstream.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ConfigurationError(f"another process serves {root}; stop it first") from error
    return lock


def _end_with_parent() -> None:
    """Ask Linux for SIGTERM when the parent dies, so that a killed supervisor leaves no server
    behind.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> None:
    """Entry point of the process."""
    if len(sys.argv) != 4:
        sys.exit("usage: python -m embedded.servers.arcadedb ROOT HTTP_PORT BOLT_PORT")
    root, http_port, bolt_port = sys.argv[1:]
    try:
        run(
            Path(root).resolve(),
            int(http_port),
            int(bolt_port),
            os.environ.get(PASSWORD_VARIABLE, ""),
        )
    except ConfigurationError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
