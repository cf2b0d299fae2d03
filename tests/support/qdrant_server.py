"""Qdrant for tests: the program `qdrant` where the PATH has one, the server that
LIGHTSTREAM_TEST_QDRANT_URI names, and for every day a stand-in, because no package carries the
server.
"""

import os
import shutil
import sys
from pathlib import Path

from embedded.processes import Process, free_port
from runtime.stores.vectors.qdrant.store import QdrantVectors

URI = os.environ.get("LIGHTSTREAM_TEST_QDRANT_URI", "")
"""A server that runs already, as qdrant://host:6333. Tests leave collections on it."""

PROGRAM = shutil.which("qdrant") or ""
STAND_IN = "qdrant-stand-in"

QDRANTS = [STAND_IN, *(["qdrant"] if URI or PROGRAM else [])]
"""What can be had here."""


def qdrant_server(name: str, folder: Path) -> tuple[Process, str]:
    """One of QDRANTS as a process over `folder`, ready when it answers, and its URL."""
    port = free_port()
    url = f"qdrant://127.0.0.1:{port}"

    async def probe() -> None:
        vectors = QdrantVectors(url, model="probe", dimension=1, timeout=4.0)
        try:
            await vectors.ping()
        finally:
            await vectors.close()

    if name == STAND_IN:
        root = Path(__file__).parents[2]
        argv = [sys.executable, "-m", "tests.support.qdrant_stand_in", str(port), "points"]
        return Process(name, argv, folder, probe, {"PYTHONPATH": str(root)}), url
    env = {
        "QDRANT__SERVICE__HOST": "127.0.0.1",
        "QDRANT__SERVICE__HTTP_PORT": str(port),
        "QDRANT__SERVICE__GRPC_PORT": str(free_port()),
        "QDRANT__TELEMETRY_DISABLED": "true",
        "QDRANT__LOG_LEVEL": "WARN",
    }
    return Process(name, [PROGRAM], folder, probe, env), url
