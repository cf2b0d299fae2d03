"""A real Milvus 2.3.5 for tests, the newest one a package registry carries; Linux on x86-64
only.
"""

import asyncio
import fcntl
import importlib
import importlib.util
import json
import random
import urllib.request
from pathlib import Path
from types import ModuleType
from typing import Any

from embedded.processes import Process, listening
from runtime.errors import Unavailable
from runtime.stores.vectors.milvus.store import MilvusVectors
from tests.support.servers import CACHE, missing

VERSION = "2.3.5"
TICK_MS = 50
"""How often the server moves its clock on. A strongly consistent read waits for about one tick; the
default is 200.
"""
SESSION_SECONDS = 10
"""After a kill the successor waits for the old session to end. The default is 30."""

_ETCD = """\
name: default
data-dir: {folder}/data/etcd.data
log-level: error
listen-client-urls: {client}
advertise-client-urls: {client}
listen-peer-urls: {peer}
initial-advertise-peer-urls: {peer}
initial-cluster: default={peer}
"""


ROOT = "root:Milvus"
"""The administrator of a new server that asks for passwords."""


def milvus_server(folder: Path, *, passwords: bool = False) -> tuple[Process, str]:
    """The server process over `folder`, ready when it answers a query, and its URI. Stop it with
    `kill`.

    Its ports are written into the folder and stay the same for its life: with other ones the
    server's own registry holds a restart up for a minute. It listens on all interfaces, which no
    setting of it can change.
    """
    programs = binaries()
    folder = folder.resolve()
    ports = _configure(folder, passwords)
    uri = f"http://127.0.0.1:{ports['proxy_port']}"

    async def probe() -> None:
        if not await asyncio.to_thread(_healthy, ports["metrics"]):
            raise Unavailable("the server is not healthy yet")
        vectors = MilvusVectors(
            uri, model="probe", dimension=1, timeout=4.0, token=ROOT if passwords else ""
        )
        try:
            await vectors.ping()
        finally:
            await vectors.close()

    env = {
        "DEPLOY_MODE": "STANDALONE",
        "METRICS_PORT": str(ports["metrics"]),
        "MILVUSCONF": str(folder / "configs"),
        "LD_LIBRARY_PATH": str(programs),
    }
    return Process(
        "milvus", [str(programs / "milvus"), "run", "standalone"], folder, probe, env, timeout=120.0
    ), uri


def package() -> ModuleType:
    """The package that carries the server."""
    if importlib.util.find_spec("milvus") is None:
        missing(
            f"Milvus {VERSION} has no package for this platform (pip install milvus=={VERSION})"
        )
    return importlib.import_module("milvus")


def binaries() -> Path:
    """The folder of the unpacked server (246 MB), unpacked once for all test workers."""
    folder = CACHE / f"milvus-{VERSION}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "milvus.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        package()._initialize_data_files(
            str(folder)
        )  # it compares checksums, so half a file never counts
    return folder / "bin"


def _configure(folder: Path, passwords: bool) -> dict[str, int]:
    """Write the server's configuration. Returns its ports by name."""
    config: Any = package().MilvusServerConfig(data_dir=str(folder))
    configurable = [name for name in config.configurable_items if name.endswith("_port")]
    ports = _ports(folder, [*configurable, "metrics", "peer"])
    for name in configurable:
        config.configurable_items[name][1] = ports[name]
    config.set("proxy.timeTickInterval", TICK_MS)
    config.set("common.session.ttl", SESSION_SECONDS)
    config.set("authorization_enabled", passwords)

    etcd = folder / "configs" / "etcd.yaml"
    client, peer = (f"http://127.0.0.1:{ports[name]}" for name in ("etcd_port", "peer"))
    etcd.parent.mkdir(exist_ok=True)
    etcd.write_text(_ETCD.format(folder=folder, client=client, peer=peer))
    place = "    dir: {{ etcd_data_dir }}"
    assert place in config.template_text, "the configuration template has changed"
    config.template_text = config.template_text.replace(
        place, f"{place}\n  config:\n    path: {etcd}"
    )

    config.resolve_storage()
    config.write_config()
    return ports


def _ports(folder: Path, names: list[str]) -> dict[str, int]:
    """The ports of this folder, chosen free when it is new, below those that the system gives to
    clients.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "ports.json"
    if not file.exists():
        free = (port for port in random.sample(range(15_000, 32_000), 1_000) if not listening(port))
        file.write_text(json.dumps(dict(zip(names, free, strict=False))))
    return json.loads(file.read_text())


def _healthy(port: int) -> bool:
    """Whether all parts of the server say that they are ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=4) as answer:
            return b"OK" in answer.read()
    except OSError:
        return False
