"""The process of a test run that has imported the parsers of files, and becomes their children by
forking; and what lets `runtime.parsing` have its children from there.

As programs they cost 0.3 s of CPU each, nearly all of it for imports, and the unit tests read some
hundreds of files. Limits, environment and the end of a child are those of the program.
"""

import asyncio
import os
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from runtime.parsing import child, sandbox
from runtime.parsing.kinds import KINDS
from tests.support import command_host, commands
from tests.support.command_host import Program
from tests.support.hosted import Hosted
from tests.support.shared_servers import SharedServers


class ForkedParser(Hosted):
    """What `sandbox` uses of `asyncio.subprocess.Process`."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader

    def __init__(self, host: Path, program: Program, files: Sequence[socket.socket]) -> None:
        with Path(os.devnull).open("wb") as errors:
            descriptors = (*(file.fileno() for file in files), errors.fileno())
            super().__init__(*command_host.start(host, program, descriptors))

    async def open(self, stdin: socket.socket, stdout: socket.socket) -> None:
        """Connect to the other ends of its input and output."""
        _, self.stdin = await asyncio.open_connection(sock=stdin)
        self.stdout, self._output = await asyncio.open_connection(sock=stdout)

    async def wait(self) -> int:
        """Return the exit code, when it has ended."""
        code = await super().wait()
        self.stdin.close()
        self._output.close()
        return code


@contextmanager
def forking_parsers(servers: SharedServers) -> Generator[None]:
    """Fork the children of parsers from the run's host, but for those of packages."""
    start_program = sandbox._start

    async def start(arguments: Sequence[str]) -> Any:
        module = arguments[1]
        if module != child.__name__ or arguments[2].startswith(child.PLUGIN):
            return await start_program(arguments)
        described = partial(commands.process_of, __name__)
        host = Path(servers.server("parsers", described)["socket"])
        return await _forked(host, arguments[1], arguments[2:])

    cast(Any, sandbox)._start = start
    yield
    cast(Any, sandbox)._start = start_program


async def _forked(host: Path, module: str, arguments: Sequence[str]) -> ForkedParser:
    env = {name: os.environ[name] for name in sandbox._PASSED_ON if name in os.environ}
    program = Program(module, [*arguments], env, str(Path.cwd()))
    input_end, stdin = socket.socketpair()
    output_end, stdout = socket.socketpair()
    with stdin, stdout:
        parser = ForkedParser(host, program, (stdin, stdout))
    await parser.open(input_end, output_end)
    return parser


def preload(_: Path) -> None:
    """Import every parser."""
    for parser in {kind.parser for kind in KINDS.values() if kind.parser}:
        import_module(f"runtime.parsing.{parser}")
    command_host.freeze()


if __name__ == "__main__":
    command_host.serve(preload)
