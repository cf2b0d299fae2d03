"""A file system of a few megabytes, to be filled."""

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Generator[Path]:
    """Mount one at the folder. Skips where this process may not."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"this machine mounts nothing: {error}")
    if outcome.returncode:
        pytest.skip(f"this process may not mount: {outcome.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def fill(disk: Path) -> Path:
    """Take all room; the file returned is what takes it."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        while (free := os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize) > 0:
            with suppress(OSError):  # whoever writes beside us has taken some of it
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), free)
    return ballast
