"""The embedded bus: one nats-server with JetStream on 127.0.0.1, from its wheel, under a folder of
ours.
"""

import hashlib
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from contracts.partitions import server_mapping
from embedded.processes import Process, listening
from runtime.errors import ConfigurationError, Unavailable

HOST = "127.0.0.1"
EXECUTABLE = "nats-server"
CONFIGURATION = "nats-server.conf"
MAX_MEMORY_STORE = 64 * 1024 * 1024
"""Bytes. Every stream of ours is a file stream; memory serves only what clients keep there for a
while.
"""
MAX_FILE_STORE = 1 << 50
"""Bytes: the disk is the limit. By itself the server takes three quarters of what is free when it
starts, so one that starts on a full disk would refuse events until it is started again.
"""
MAX_PAYLOAD = 8 * 1024 * 1024
"""Bytes of one message: above this the server itself warns. Events and parts of blobs stay far
below.
"""

START_TIMEOUT = 600.0
"""Seconds until the server must answer: it reads its log first, more than a minute for six million
events.
"""

GARBAGE_PERCENT = "25"
"""How much the server's memory may grow before it looks for garbage, in per cent of what is in use;
Go's own is 100. Half of the memory for a sixteenth more CPU (benchmarks/results/growth.md); a bound
in bytes would cost more and more CPU as the log grows.
"""

Sync = Literal["always", "default"]
"""When a message reaches the disk: before it is acknowledged, or within the server's own interval
(2 minutes).
"""


USER = "lightstream"

OWN_SUBJECTS = ("kb.>", "blob.>", "dead.>", "parked.>", "intake.>", "$KV.>")
"""What is published to the streams of a bus: it never goes over a link, in either direction."""


@dataclass(frozen=True)
class BusLink:
    """How a bus is linked to those of other regions. `domain`: the name of its JetStream there;
    `secret`: what others show it on `port`; `remote`: where it links itself to, if anywhere.
    """

    domain: str
    port: int
    secret: str
    remote: str = ""


@dataclass(frozen=True)
class BusOptions:
    """What few buses have: a `link` to those of other regions, and a log of several
    `partitions`.
    """

    link: BusLink | None = None
    partitions: int = 1


PLAIN_BUS = BusOptions()


def url(port: int, password: str = "") -> str:
    """Return the address of the server for clients; the password must need no escaping in a URL."""
    credentials = f"{USER}:{password}@" if password else ""
    return f"nats://{credentials}{HOST}:{port}"


def nats_server(
    folder: Path,
    *,
    port: int,
    password: str = "",
    monitor_port: int | None = None,
    sync: Sync = "always",
    options: BusOptions = PLAIN_BUS,
) -> Process:
    """A nats-server that keeps everything it stores under `folder`, not yet started.

    Writes `folder/nats-server.conf` (mode 0600); messages go to `folder/jetstream`, the log to
    `folder/nats-server.log`. Without a `password` it lets everybody in who reaches the port, so
    that is for tests. `monitor_port` opens the HTTP monitoring pages (/varz, /jsz, /healthz), also
    on 127.0.0.1 only. `sync="default"` loses acknowledged messages when the power fails, so it is
    for tests that want speed. Two servers must never share a folder: whoever starts them locks it.
    Raises ConfigurationError when this machine has no nats-server.
    """
    program = executable()
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / CONFIGURATION
    text = configuration(
        folder, port=port, password=password, monitor_port=monitor_port, sync=sync, options=options
    )
    # The password is in the file, which its owner alone can read: the arguments of a process are
    # for everybody.
    with os.fdopen(
        os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
    ) as output:
        os.fchmod(output.fileno(), 0o600)
        output.write(text)

    async def probe() -> None:
        await answer(port, server_name(folder), password)

    argv = [str(program), "-c", str(file)]
    env = {"GOGC": os.environ.get("GOGC") or GARBAGE_PERCENT}
    return Process(EXECUTABLE, argv, folder, probe, env=env, timeout=START_TIMEOUT)


def configuration(
    folder: Path,
    *,
    port: int,
    password: str,
    monitor_port: int | None,
    sync: Sync,
    options: BusOptions = PLAIN_BUS,
) -> str:
    """The text of the configuration file."""
    link = options.link
    lines = [
        f"server_name: {quoted(server_name(folder))}",
        f"listen: {quoted(f'{HOST}:{port}')}",
        f"max_payload: {MAX_PAYLOAD}",
        "jetstream {",
        f"  store_dir: {quoted(folder / 'jetstream')}",
        f"  max_mem: {MAX_MEMORY_STORE}",
        f"  max_file: {MAX_FILE_STORE}",
        *(["  sync_interval: always"] if sync == "always" else []),
        *([f"  domain: {quoted(link.domain)}"] if link else []),
        "}",
        *(_link_lines(link) if link else []),
        *(_mapping_lines(options.partitions) if options.partitions > 1 else []),
    ]
    if password:
        lines.append(f"authorization {{ user: {quoted(USER)}, password: {quoted(password)} }}")
    if monitor_port is not None:
        lines.append(f"http: {quoted(f'{HOST}:{monitor_port}')}")
    return "\n".join(lines) + "\n"


def _link_lines(link: BusLink) -> list[str]:
    """Return the lines by which a bus is linked to others."""
    user = f"{{ user: region, password: {quoted(link.secret)} }}"
    denied = ", ".join(map(quoted, OWN_SUBJECTS))
    remotes = (
        f"{{ url: {quoted(link.remote)}, deny_imports: [{denied}], deny_exports: [{denied}] }}"
        if link.remote
        else ""
    )
    return [
        "leafnodes {",
        f"  listen: {quoted(f'{HOST}:{link.port}')}",
        f"  authorization {user}",
        # Others come by the address they were given, which may be that of a tunnel.
        "  no_advertise: true",
        f"  remotes: [{remotes}]",
        "}",
    ]


def _mapping_lines(partitions: int) -> list[str]:
    """Return the lines by which an event reaches the partition of its workspace."""
    source, target = server_mapping(partitions)
    return ["mappings {", f"  {quoted(source)}: {quoted(target)}", "}"]


def server_name(folder: Path) -> str:
    """A name that stays over restarts and tells the server of this folder from any other one on the
    same port.
    """
    return "lightstream-" + hashlib.sha256(str(folder).encode()).hexdigest()[:12]


def quoted(value: str | Path) -> str:
    """A string of the server's configuration language, which reads escapes as JSON does."""
    return json.dumps(str(value), ensure_ascii=False)


def executable() -> Path:
    """The nats-server of this environment, else the one on PATH. Raises ConfigurationError when
    there is none.
    """
    beside = Path(sys.executable).parent / EXECUTABLE
    if beside.is_file():
        return beside
    if path := shutil.which(EXECUTABLE):
        return Path(path)
    raise ConfigurationError(
        f"no {EXECUTABLE} in this Python environment or on PATH: pip install "
        "'lightstream-rag[embedded]' brings it"
    )


async def answer(port: int, name: str, password: str = "") -> None:
    """Ask JetStream for its account. Raises Unavailable while nobody, or a server of another name,
    answers.
    """
    if not listening(port):
        raise Unavailable(f"nobody listens on port {port} yet")
    # Commands that only name the server's address load no client.
    import nats  # noqa: PLC0415
    from nats.errors import Error as NatsError  # noqa: PLC0415

    try:
        client = await nats.connect(
            url(port, password),
            connect_timeout=2,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            error_cb=_ignored,
        )
        try:
            await client.jetstream(timeout=2).account_info()
            answering = json.loads((await client.request("$SYS.REQ.USER.INFO", timeout=2)).data)[
                "server"
            ]["name"]
        finally:
            await client.close()
    except (NatsError, OSError, TimeoutError) as error:
        raise Unavailable(
            f"the bus on port {port} does not answer yet ({type(error).__name__})"
        ) from error
    if answering != name:
        raise Unavailable(f"port {port} is taken by another server, {answering!r}")


async def _ignored(error: Exception) -> None:
    """The call raises the same error; the client would log it again with a traceback."""
