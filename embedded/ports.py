"""Ports of a stack: the default ones where they are free, and the same ones at every start.

A port that is free at a look may be another stack's a moment later, and a part that finds it taken
is not the one that answers there: two stacks would work into each other. So a stack claims its
ports before it uses them.
"""

import contextlib
import os
import secrets
import socket
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass

from runtime.errors import ConfigurationError, InvalidInput

DEFAULT_PORTS: Mapping[str, int] = {
    "bus": 4222,
    "graph": 7687,
    "graph-http": 2480,
    "vectors": 19530,
    "api": 9621,
    "chunker": 9622,
    "extractor": 9623,
    "merger": 9624,
    "indexer": 9625,
    "regions": 7422,
}
"""Default port of each part; `api` is the query service, the other services have health pages
only; on `regions` the bus takes in links of other regions, where the stack has a region's name;
`graph` and `vectors` are those of servers that a stack need not have.
"""


HIGHEST_PORT = 65535


@dataclass(frozen=True)
class ApiAddress:
    """Where the API is to listen: on this machine alone, and on the usual port, unless asked
    otherwise. Every other part of a stack listens on this machine alone.
    """

    host: str = "127.0.0.1"
    port: int | None = None


USUAL_ADDRESS = ApiAddress()


def configured_address() -> ApiAddress:
    """Return the address that HOST and PORT of this process's environment name, else the usual one.

    Raises ConfigurationError for a port that cannot be.
    """
    port = os.environ.get("PORT") or "0"
    if not port.isdecimal() or int(port) > HIGHEST_PORT:
        raise ConfigurationError(f"PORT: must be a number from 1 to {HIGHEST_PORT}")
    return ApiAddress(os.environ.get("HOST") or USUAL_ADDRESS.host, int(port) or None)


LOWEST = 20000
HIGHEST = 32000
"""Other ports are sought here, below those a client's end of a connection gets: on one of these a
client that tries to reconnect to a server that is down may meet itself.
"""


def is_free(port: int) -> bool:
    """Return True if a server could listen on the port now."""
    with socket.socket() as listener:
        # Connections of the last server that linger on are no obstacle to the next one.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@contextlib.contextmanager
def claim_ports(
    preferred_ports: Mapping[str, int],
    api: int | None = None,
    *,
    unused_parts: Collection[str] = (),
) -> Generator[dict[str, int]]:
    """Claim a port for each part but the `unused_parts`: the wanted one where it is free, else any.
    No other stack claims it meanwhile.

    `api` is the port the user asked for. Raises InvalidInput when it is taken.
    """
    with contextlib.ExitStack() as claims:
        if api is not None and not _claim(api, claims):
            raise InvalidInput(
                f"port {api} is taken by another program: choose another one with --port or PORT"
            )
        claimed_ports: dict[str, int] = {} if api is None else {"api": api}
        for part in DEFAULT_PORTS:
            if part not in claimed_ports and part not in unused_parts:
                port = preferred_ports.get(part, 0)
                claimed_ports[part] = port if port and _claim(port, claims) else _claim_any(claims)
        yield claimed_ports


def _claim(port: int, claims: contextlib.ExitStack) -> bool:
    """Claim a port until the claims end, at the latest with the process; return False if it is not
    free.
    """
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(
            f"\0lightstream/port/{port}"
        )  # a name without a file, known where the port is known
    except OSError:
        claim.close()
        return False
    claims.callback(claim.close)
    return is_free(port)


def _claim_any(claims: contextlib.ExitStack) -> int:
    for _ in range(1000):
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        if _claim(port, claims):
            return port
    raise ConfigurationError(f"no free port between {LOWEST} and {HIGHEST}")
