"""Which ports a stack uses: the usual ones where they are free, and the same ones at every start."""

import secrets
import socket
from collections.abc import Mapping

from runtime.errors import ConfigurationError, InvalidInput

USUAL: Mapping[str, int] = {
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


def choose(wanted: Mapping[str, int], api: int | None = None) -> dict[str, int]:
    """A port for each part: the wanted one where it is free, else any.

    `api` is the port the user asked for. Raises InvalidInput when it is taken.
    """
    if api is not None and not is_free(api):
        raise InvalidInput(f"port {api} is taken by another program: choose another one with --port")
    chosen: dict[str, int] = {} if api is None else {"api": api}
    for part in USUAL:
        if part not in chosen:
            port = wanted.get(part, 0)
            kept = port and port not in chosen.values() and is_free(port)
            chosen[part] = port if kept else _other(set(chosen.values()))
    return chosen


def _other(taken: set[int]) -> int:
    for _ in range(1000):
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST)
        if port not in taken and is_free(port):
            return port
    raise ConfigurationError(f"no free port between {LOWEST} and {HIGHEST}")
