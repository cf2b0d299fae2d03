"""The embedded vector store: Milvus Lite's C++ server from its wheel, a process of its own, spoken
to over gRPC.

`python -m embedded.servers.milvus_lite FOLDER PORT` locks the folder and becomes the
server.
"""

import ctypes
import fcntl
import importlib.util
import os
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NoReturn, cast

from embedded.processes import Process, listening
from embedded.programs import import_path
from embedded.servers.milvus_lite_times import date_rows_to_now
from embedded.stores import VECTORS
from runtime.errors import ConfigurationError, Unavailable

HOST = "127.0.0.1"
DATABASE = VECTORS.server.data
PAGE_BYTES = 2048
"""Bytes of a page, of files that are new. With its own 4 kB pages one row of 384 numbers, 2.3 kB,
takes a whole one.
"""
LOCK = "milvus-lite.lock"
LIST_COLLECTIONS = "/milvus.proto.milvus.MilvusService/ShowCollections"
_PR_SET_PDEATHSIG = 1


def uri(port: int) -> str:
    """Return the address of the server for clients."""
    return f"http://{HOST}:{port}"


def milvus_lite(folder: Path, *, port: int) -> Process:
    """The server process over `folder`, not yet started; ready when it, and no other server,
    answers a query.

    It ends by itself, with the reason in its log, when another process serves the folder or listens
    on the port: Milvus Lite would share both without an error. Raises ConfigurationError when this
    machine has no Milvus Lite.
    """
    executable()
    folder = folder.resolve()

    async def probe() -> None:
        if _serving_pid(folder) != process.pid:
            raise Unavailable(f"nobody serves {folder} yet")
        await _answer(port)

    path = os.pathsep.join(filter(None, [import_path(), os.environ.get("PYTHONPATH", "")]))
    argv = [sys.executable, "-m", "embedded.servers.milvus_lite", str(folder), str(port)]
    process = Process("milvus-lite", argv, folder, probe, env={"PYTHONPATH": path})
    return process


async def _answer(port: int) -> None:
    """Return when the server lists its collections; raises any error while it does not.

    The call is made without pymilvus, which would cost the supervisor 0.3 s and 40 MB.
    """
    # The server process imports this module too.
    from grpc import aio  # noqa: PLC0415

    async with aio.insecure_channel(f"{HOST}:{port}") as channel:
        call = cast(Callable[..., Awaitable[bytes]], channel.unary_unary(LIST_COLLECTIONS))
        await call(b"", timeout=4.0)


def executable() -> Path:
    """The server's binary. Raises ConfigurationError when there is none.

    The package is found, not imported: importing it needs a module that new environments lack.
    """
    spec = importlib.util.find_spec("milvus_lite")
    binary = Path(spec.origin).parent / "lib" / "milvus" if spec and spec.origin else None
    if binary is None or not binary.is_file():
        raise ConfigurationError(
            "no Milvus Lite in this Python environment: pip install 'lightstream-rag[milvus-lite]'"
        )
    return binary


def run(folder: Path, port: int) -> NoReturn:
    """Lock the folder and become the server. Raises ConfigurationError when the folder or the port
    is taken.
    """
    binary = executable()
    folder.mkdir(parents=True, exist_ok=True)
    _lock(folder)
    if listening(port):
        raise ConfigurationError(
            f"port {port} is taken by another program; stop it, or choose another port"
        )
    _write_pid(folder)
    make_database(folder / DATABASE)
    # A database that cannot be read: the server says what is wrong with it.
    with suppress(sqlite3.Error):
        if row_count := date_rows_to_now(folder / DATABASE):
            sys.stderr.write(
                f"the clock was set back: {row_count} rows of the future are dated to now\n"
            )
        _end_with_parent()
    libraries = {"LD_LIBRARY_PATH": str(binary.parent), "DYLD_LIBRARY_PATH": str(binary.parent)}
    argv = [str(binary), str(folder / DATABASE), f"{HOST}:{port}", "ERROR"]
    os.execve(binary, argv, {**os.environ, **libraries})  # noqa: S606


def _lock(folder: Path) -> None:
    """Lock the folder until this process, which becomes the server, ends: the descriptor is
    inherited.
    """
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise ConfigurationError(f"another process serves {folder}; stop it first") from error
    os.set_inheritable(descriptor, True)


def _write_pid(folder: Path) -> None:
    """Write our pid, which the server keeps, for the probe: it identifies the server on the
    port.
    """
    (folder / LOCK).write_text(str(os.getpid()))


def make_database(file: Path) -> None:
    """Make the empty database, so that it has pages of our size. One that is there stays as it is.

    Where it cannot be made the server, which makes it then, says what is wrong.
    """
    if file.exists() and file.stat().st_size:
        return
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(file, isolation_level=None)) as connection,
    ):
        connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        connection.execute("VACUUM")  # a file without tables is written by nothing else


def _serving_pid(folder: Path) -> int:
    """Return the pid of the process that last locked the folder and found its port free, 0 if none
    did.
    """
    try:
        return int((folder / LOCK).read_text() or 0)
    except FileNotFoundError:
        return 0


def _end_with_parent() -> None:
    """Ask Linux for SIGTERM when the parent dies, so that a killed supervisor leaves no server
    behind.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> None:
    """Entry point of the process."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m embedded.servers.milvus_lite FOLDER PORT")
    try:
        run(Path(sys.argv[1]).resolve(), int(sys.argv[2]))
    except ConfigurationError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
