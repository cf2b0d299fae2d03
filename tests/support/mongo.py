"""A server of MongoDB's protocol for tests: mongo-java-server in memory, run by plain Java from
Maven's jars.

It is not MongoDB: a restart empties it, and it knows no sessions. The same tests run on a real
MongoDB where LIGHTSTREAM_TEST_MONGODB_URI names one.
"""

import fcntl
import shutil
import subprocess
from pathlib import Path

from embedded.processes import Process, free_port
from runtime.stores.documents.mongo.store import MongoRows
from tests.support.servers import CACHE, missing
from tests.support.shared_servers import Address, SharedServers

VERSION = "1.47.0"
_FILES = Path(__file__).parent / "mongo_server"
_JVM = ("-Xmx1200m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError")


def mongo_uri(port: int) -> str:
    """Where the driver connects."""
    return f"mongodb://127.0.0.1:{port}"


def mongo_server(folder: Path, port: int) -> Process:
    """The server process, ready when it answers a query. Its log goes to `folder`."""

    async def probe() -> None:
        rows = MongoRows(mongo_uri(port), "probe", timeout=4.0)
        try:
            await rows.ping()
        finally:
            await rows.close()

    argv = ["java", *_JVM, "-cp", f"{_jars()}/*", str(_FILES / "Launcher.java"), str(port)]
    return Process("mongo", argv, folder, probe, timeout=60.0)


def shared_mongo(servers: SharedServers) -> str:
    """The URI of this run's server; whoever uses it takes a database of its own and drops it."""

    def make(folder: Path) -> tuple[Process, Address]:
        port = free_port()
        return mongo_server(folder, port), {"uri": mongo_uri(port)}

    return servers.server("mongo", make)["uri"]


def _jars() -> Path:
    """The folder of the server's jars, fetched once for all test workers. Skips or fails where that
    cannot be.
    """
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            missing(f"mongo-java-server needs {tool}")
    folder = CACHE / f"mongo-java-server-{VERSION}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "mongo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _download(folder)
    return folder


def _download(folder: Path) -> None:
    """Copy the jars beside the folder and rename, so that half a download never counts."""
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    command = [
        "mvn",
        "-B",
        "-q",
        "dependency:copy-dependencies",
        f"-DoutputDirectory={half}",
        "-DincludeScope=runtime",
    ]
    try:
        subprocess.run(command, cwd=_FILES, check=True, capture_output=True, timeout=280)
    except subprocess.TimeoutExpired:
        missing("Maven did not bring mongo-java-server's jars within 280 s")
    except subprocess.CalledProcessError as error:
        missing(
            "Maven could not bring mongo-java-server's jars: "
            f"{error.stdout.decode(errors='replace')[-500:]}"
        )
    half.rename(folder)
