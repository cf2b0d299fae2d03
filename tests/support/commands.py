"""Commands of the command line as tests give them: as programs, or forked from the host of the
run.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from embedded.processes import Process
from tests.support import command_host, forked_command
from tests.support.command_host import Program
from tests.support.shared_servers import Address, SharedServers
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

LIGHTSTREAM = str(Path(sys.executable).with_name("lightstream"))
"""The program as it is installed."""

Done = subprocess.CompletedProcess[str]


def as_program(
    arguments: Sequence[str], env: Mapping[str, str], folder: Path, stdin: str | None = None
) -> Done:
    """Start `lightstream` and wait for its end."""
    return subprocess.run(
        [LIGHTSTREAM, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=env,
        cwd=folder,
        check=False,
    )


give: Callable[..., Done] = as_program
"""What `Stack.run` calls; the end-to-end tests set `Forked` for all but those of the programs
themselves.
"""


def installed() -> list[str]:
    """Return the beginning of a command that starts `lightstream`."""
    return [LIGHTSTREAM]


beginning: Callable[[], list[str]] = installed
"""Of commands that a test starts by itself; end-to-end and integration tests set `forking` for all
but those of the program itself.
"""


class Forked:
    """Calls like `as_program` that fork from the host: a process of its own each, without the time
    for imports.
    """

    def __init__(self, servers: SharedServers) -> None:
        self._host = host(servers)

    def __call__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        folder: Path,
        stdin: str | None = None,
    ) -> Done:
        """Fork and wait for the end."""
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as errors,
        ):
            given.write((stdin or "").encode())
            given.seek(0)
            program = Program("cli", [*arguments], {**env}, str(folder))
            streams = (given.fileno(), out.fileno(), errors.fileno())
            code = command_host.run(self._host, program, streams, PATIENCE)
            out.seek(0)
            errors.seek(0)
            return Done(
                [LIGHTSTREAM, *arguments], code, out.read().decode(), errors.read().decode()
            )


def forking(servers: SharedServers, module: str) -> list[str]:
    """Return the beginning of a command that is as `python -m MODULE`, for what starts programs by
    their names.
    """
    return [sys.executable, "-S", "-E", forked_command.__file__, str(host(servers)), module]


def host(servers: SharedServers) -> Path:
    """Return the socket of the run's host of programs."""
    return Path(servers.server("commands", partial(process_of, command_host.__name__))["socket"])


def process_of(module: str, folder: Path) -> tuple[Process, Address]:
    """Return a host, which that module is, and where its socket is."""
    socket = folder / "socket"

    async def probe() -> None:
        if not socket.exists():
            raise FileNotFoundError(socket)

    argv = [sys.executable, "-m", module, str(socket)]
    settings = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "EMBEDDING_MODEL": "lexical"}
    process = Process("host", argv, folder, probe, env=settings | command_host.ROOM)
    return process, {"socket": str(socket)}
