"""A real Neo4j 5.26 Community server for tests, run by plain Java from Maven's jars."""

import fcntl
import shutil
import subprocess
from pathlib import Path

from embedded.processes import Process, listening
from runtime.errors import Unavailable
from runtime.stores.graph.neo4j.store import BoltGraph
from tests.support.servers import CACHE, missing
from tests.support.waiting import PATIENCE

POM = Path(__file__).parent / "neo4j_server_pom"
VERSION = "5.26.30"
USER = "neo4j"
PASSWORD = "not-asked-for"

_SETTINGS = """\
server.default_listen_address=127.0.0.1
server.default_advertised_address=127.0.0.1
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=false
server.memory.pagecache.size=128m
dbms.usage_report.enabled=false
db.tx_log.rotation.retention_policy=1 files
db.tx_log.preallocate=false
db.tx_log.rotation.size=16m
internal.server.bolt.thread_pool_shutdown_wait_time=1s
internal.server.bolt.connection_shutdown_wait_time=1s
"""

_JVM = (
    "-Xms128m",
    "-Xmx448m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # Its jars are verified by Maven; of a start, verifying fourteen thousand classes is a quarter.
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "-XX:MaxMetaspaceSize=256m",
    "-XX:MaxDirectMemorySize=64m",
    "-XX:+ExitOnOutOfMemoryError",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dfile.encoding=UTF-8",
)


def jars() -> Path:
    """The folder of the server's jars, fetched once for all test workers. Skips or fails where that
    cannot be.
    """
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            missing(f"Neo4j needs {tool}")
    folder = CACHE / f"neo4j-{VERSION}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "neo4j.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _download(folder)
    return folder


def _download(folder: Path) -> None:
    """Copy the jars beside the folder and rename, so that half a download never counts."""
    half = folder.with_suffix(".half")
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
        subprocess.run(command, cwd=POM, check=True, capture_output=True, timeout=280)
    except subprocess.TimeoutExpired:
        missing("Maven did not bring Neo4j's jars within 280 s")
    except subprocess.CalledProcessError as error:
        missing(
            f"Maven could not bring Neo4j's jars: {error.stdout.decode(errors='replace')[-500:]}"
        )
    half.rename(folder)


def bolt_uri(port: int) -> str:
    """Where the driver connects."""
    return f"bolt://127.0.0.1:{port}"


def neo4j_server(folder: Path, port: int) -> Process:
    """The server process over `folder`, ready when it answers a query. Its authentication is
    off.
    """
    for name in ("conf", "data", "logs", "run", "plugins", "import", "licenses"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "conf" / "neo4j.conf").write_text(_SETTINGS.format(port=port))

    async def probe() -> None:
        if not listening(port):  # the driver takes 20 ms to find that out
            raise Unavailable(f"nobody speaks Bolt on port {port} yet")
        graph = BoltGraph(bolt_uri(port), USER, PASSWORD, timeout=4.0)
        try:
            await graph.ping()
        finally:
            await graph.close()

    argv = [
        "java",
        *_JVM,
        "-cp",
        f"{jars()}/*",
        "org.neo4j.server.CommunityEntryPoint",
        f"--home-dir={folder}",
        f"--config-dir={folder / 'conf'}",
    ]
    return Process("neo4j", argv, folder, probe, timeout=PATIENCE, grace=20.0)
