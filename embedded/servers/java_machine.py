"""The Java machine of the graph store's process, and where its classes are kept linked.

`arcadedb_embedded.start_jvm` would give it an incubator module for indexes of vectors, which nobody
asks the graph for. With such a module a Java machine takes no linked classes from a cache (JEP 483)
and links all anew at each start, for half of its CPU. So it is started here, with the other options
of that function.
"""

import os
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from embedded.programs import import_path

OPTIONS = (
    # A commit is on the disk before it is acknowledged; the server's default is not.
    "-Darcadedb.txWalFlush=2",
    # A page is read and written whole, and of a large graph each record is on another one: with its
    # own pages of 64 and 256 KiB, 1.1 GB were written for 12,000 changes, with these a quarter.
    # Each begins with places for 2,048 records, 8 KiB: smaller pages take no record at all.
    "-Darcadedb.bucketDefaultPageSize=16384",
    "-Darcadedb.indexDefaultPageSize=65536",
    # The password is drawn at random, so nobody can try all; 65,536 rounds took 0.2 s of a start.
    "-Darcadedb.server.saltIterations=1000",
    "-XX:+UseSerialGC",
    # By itself it begins with a 64th of the machine's memory, all of which its first use fills, and
    # gives a third of that to what lives shortly: it looks for garbage more often than it need.
    "-Xms48m",
    "-Xmn32m",
    "-XX:TieredStopAtLevel=1",
    # Those of `arcadedb_embedded.start_jvm`.
    "-XX:+UseCompactObjectHeaders",
    "-XX:ErrorFile=./log/hs_err_pid%p.log",
    "-Dfile.encoding=UTF8",
    "-Djava.awt.headless=true",
    "-Dpolyglot.engine.WarnInterpreterOnly=false",
    "--enable-native-access=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--add-opens=java.base/java.nio.channels.spi=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)

CLASSES_VARIABLE = "ARCADEDB_CLASSES"
"""Names the file to which the Java machine writes, when it ends, the classes that it loaded."""

HEAP_VARIABLE = "ARC_HEAP"
USUAL_HEAP = "384m"


def class_cache() -> Path:
    """Where java_classes.py keeps the classes: with the installed jars that they are of, and named
    after the options, for a cache of others would not be read.
    """
    package = find_spec("arcadedb_embedded")  # not imported: a supervisor has no use for it
    assert package and package.origin
    of_options = sha256("\n".join(OPTIONS).encode()).hexdigest()[:8]
    return Path(package.origin).parent / f"java-classes-{of_options}.aot"


def write_class_cache_once() -> None:
    """Have the cache written, by a process that ends by itself, where nobody has begun that yet and
    the environment takes files.

    One that could not be written is not tried again at each start: all works without it.
    """
    cache = class_cache()
    if cache.exists():
        return
    try:
        cache.with_suffix(".begun").open("x").close()
    except OSError:
        return
    subprocess.Popen(
        (sys.executable, "-m", "embedded.servers.java_classes"),
        env={**os.environ, "PYTHONPATH": import_path()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def start_java_machine() -> None:
    """Start it in this process. Its memory is `ARC_HEAP`; `CLASSES_VARIABLE` has it record its
    classes instead of taking them from the cache.
    """
    # A process that waits for the server imports this module, and never starts a Java machine.
    import jpype  # noqa: PLC0415
    from arcadedb_embedded.jvm import get_bundled_jre_lib_path, get_jar_path  # noqa: PLC0415

    # Sorted, for a folder lists them in any order: a cache is read with its own class path alone.
    jars = sorted(map(str, Path(get_jar_path()).glob("*.jar")))
    heap = os.environ.get(HEAP_VARIABLE, USUAL_HEAP)
    options = (*OPTIONS, f"-Xmx{heap}", *_classes())
    machine: Any = jpype
    machine.startJVM(get_bundled_jre_lib_path(), *options, classpath=jars, interrupt=False)


def _classes() -> list[str]:
    if recording := os.environ.get(CLASSES_VARIABLE):
        return [f"-XX:AOTCacheOutput={recording}"]
    return [f"-XX:AOTCache={cache}"] if (cache := class_cache()).exists() else []
