"""A nats-server with many accounts, each of which has its streams in files of its own: many damaged
logs at once.
"""

import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from embedded.processes import Process, free_port, listening
from embedded.servers.nats import executable, quoted
from runtime.bus.nats.connection import connected
from runtime.errors import ConfigurationError, Unavailable
from tests.support.servers import missing


@dataclass(frozen=True)
class Accounts:
    """A running server over `folder`."""

    process: Process
    port: int
    folder: Path

    def url(self, account: str) -> str:
        """The address of one account."""
        return f"nats://{account}:{account}@127.0.0.1:{self.port}"


def stream_folder(folder: Path, account: str, stream: str = "") -> Path:
    """Where a server over `folder` has a stream of an account, or all of them."""
    return folder / "store" / "jetstream" / account / "streams" / stream


def copy_streams(folder: Path, source: str, account: str, streams: Sequence[str]) -> None:
    """Give an account the streams of another, file by file. The server must not run."""
    for stream in streams:
        shutil.copytree(
            stream_folder(folder, source, stream), stream_folder(folder, account, stream)
        )


@asynccontextmanager
async def accounts_server(folder: Path, names: Sequence[str]) -> AsyncGenerator[Accounts]:
    """The server, stopped in good order at the end, or killed by the test before."""
    port = free_port()
    try:
        program = str(executable())
    except ConfigurationError as error:
        missing(str(error))
    accounts = "\n".join(
        f"  {name} {{ jetstream: enabled, users: [{{ user: {name}, password: {name} }}] }}"
        for name in names
    )
    file = folder / "accounts.conf"
    file.write_text(
        f"listen: {quoted(f'127.0.0.1:{port}')}\nmax_payload: 8388608\n"
        f"jetstream {{ store_dir: {quoted(folder / 'store')} }}\naccounts {{\n{accounts}\n}}\n"
    )

    async def probe() -> None:
        if not listening(port):
            raise Unavailable(f"nobody listens on port {port} yet")
        async with connected(
            f"nats://{names[-1]}:{names[-1]}@127.0.0.1:{port}", name="test"
        ) as client:
            await client.jetstream().account_info()

    process = Process("nats-server", [program, "-c", str(file)], folder, probe)
    await process.start()
    try:
        yield Accounts(process, port, folder)
    finally:
        await process.stop()
