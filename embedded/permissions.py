"""Files of a stack are for the user who runs it, and for nobody else on the machine: folders 0700,
files 0600.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from runtime.errors import ConfigurationError

UMASK = 0o077
"""Takes every right of other users from what a process makes."""

STACK_FOLDERS = ("bus", "documents", "graph", "vectors", "services")
"""Folders of a data folder. Whatever else a user keeps beside them is not ours to change."""


def open_private(path: Path) -> BinaryIO:
    """Open a file for appending, made with mode 0600 if need be."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def make_private(folder: Path) -> None:
    """Make the data folder unless it is there, and take other users' rights to it and its parts.

    The files of a stack that older code has started are changed too. Raises ConfigurationError for
    a folder of another user that others may enter.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if stat.S_IMODE(folder.stat().st_mode) & UMASK == 0:
        return
    for part in (folder / name for name in STACK_FOLDERS):
        for path in [part, *part.rglob("*")] if part.is_dir() else []:
            _restrict(path)
    for path in folder.glob("*.log"):
        _restrict(path)
    # The last of all: a change that was interrupted is made again.
    try:
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~UMASK)
    except PermissionError:
        raise ConfigurationError(
            f"{folder} belongs to another user: choose a folder of your own with --data, "
            "for a stack keeps documents and passwords in it"
        ) from None


@contextmanager
def private_files() -> Generator[None]:
    """Make every file that this process and its children create inside the block private to their
    user.
    """
    before = os.umask(UMASK)
    try:
        yield
    finally:
        os.umask(before)


def _restrict(path: Path) -> None:
    with suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~UMASK)
