"""Starts PostgreSQL on a port of this machine, as another user where this one is root.

`python tests/support/postgres_launcher.py PROGRAMS PORT [DATA]` becomes the server over that
folder, which it fills if it is empty. Without one it makes a folder, and removes it when the server
ends. The password of the user `lightstream` stands in the environment.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

PASSWORD = "LIGHTSTREAM_POSTGRES_PASSWORD"
USER = "lightstream"

OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "fsync": "off",  # a server that is killed loses nothing by that, a machine would
    "full_page_writes": "off",
    "wal_level": "logical",  # a table as a source tells what changed in it
}


def main() -> None:
    """Run the server until it ends."""
    programs = Path(sys.argv[1])
    given_folder = sys.argv[3] if len(sys.argv) > 3 else ""
    folder = Path(given_folder or tempfile.mkdtemp(prefix="lightstream-postgres-"))
    hand_over(folder)
    if not (folder / "PG_VERSION").exists():
        fill(programs, folder)
    options = [text for name, value in OPTIONS.items() for text in ("-c", f"{name}={value}")]
    argv = [str(programs / "postgres"), "-D", str(folder), "-p", sys.argv[2], *options]
    if given_folder:
        wait_for_orphans(folder)
        become_another_user()
        os.execv(argv[0], argv)
    server = subprocess.Popen(argv, preexec_fn=become_another_user)

    def stop(number: int, frame: FrameType | None) -> None:
        server.send_signal(signal.SIGINT)  # without waiting for clients

    signal.signal(signal.SIGTERM, stop)
    code = server.wait()
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(code)


def fill(programs: Path, folder: Path) -> None:
    """Make the files of an empty server."""
    password = Path(tempfile.mkdtemp(prefix="lightstream-postgres-")) / "password"
    password.write_text(os.environ[PASSWORD])
    hand_over(password.parent)
    hand_over(password)
    try:
        subprocess.run(
            [
                *(programs / "initdb", "-D", folder, "-U", USER, "--pwfile", password),
                *("-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"),
            ],
            check=True,
            preexec_fn=become_another_user,
        )
    finally:
        shutil.rmtree(password.parent)


def wait_for_orphans(folder: Path) -> None:
    """Wait for the children of a server that was killed: they end by themselves, soon, and no other
    server starts over the same files before.
    """
    end = time.monotonic() + 20
    while time.monotonic() < end and any(map(folder.samefile, working_folders())):
        time.sleep(0.02)


def working_folders() -> Iterator[Path]:
    """The working folders of all processes but this one."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if process.name != str(os.getpid()):
                yield (process / "cwd").resolve(strict=True)


def hand_over(path: Path) -> None:
    """Give the path to whom the server runs as."""
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


def become_another_user() -> None:
    """Give up the rights of root, with which PostgreSQL does not run."""
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)


if __name__ == "__main__":
    main()
