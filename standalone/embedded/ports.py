"""Which ports a stack uses: the usual ones where they are free, and the same ones at every start.

A port that is free at a look may be another stack's a moment later, and a part that finds it taken is not the one that
answers there: two stacks would work into each other. So a stack claims its ports before it uses them.
"""

import contextlib
import secrets
import socket
from collections.abc import Generator, Mapping

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
}
"""What a client expects where; `api` is the query service, the other services have a health page only."""

LOWEST, HIGHEST = 20000, 32000
"""Other ports are sought here, below those a client's end of a connection gets: on one of these a client that tries to
reconnect to a server that is down may meet itself."""


def is_free(port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as listener:
        # Connections of the last server that linger on are no obstacle to the next one.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@contextlib.contextmanager
def claim_ports(wanted: Mapping[str, int], api: int | None = None) -> Generator[dict[str, int]]:
    """A port for each part, the wanted one where it is free, else any; no other stack chooses one of them meanwhile.

    `api` is the port the user asked for. Raises InvalidInput when it is taken.
    """
    with contextlib.ExitStack() as claims:
        if api is not None and not _claim(api, claims):
            raise InvalidInput(f"port {api} is taken by another program: choose another one with --port")
        found: dict[str, int] = {} if api is None else {"api": api}
        for part in DEFAULT_PORTS:
            if part not in found:
                port = wanted.get(part, 0)
                found[part] = port if port and _claim(port, claims) else _claim_any(claims)
        yield found


def _claim(port: int, claims: contextlib.ExitStack) -> bool:
    """Whether the port is free and ours until the claims end, which they do with the process however it ends."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0lightstream/port/{port}")  # a name without a file, known where the port is known
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
