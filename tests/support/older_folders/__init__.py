"""Data folders that programs of older schemas left: made once by `make.py`, kept in one small
archive.

Each was stopped in the middle of extraction, after documents had been updated and deleted, and
summaries made.
"""

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).parent / "folders.tar.xz"
"""Folders by the number of their schema, packed together because they say much the same."""

DIMENSION = 8
"""Numbers of an embedding in these folders: few, to keep the archives small."""

ADDED = 12
LATE = 4
"""Documents that were processed, and those that were being extracted in the end."""


def schemas() -> list[int]:
    """Return the schema versions there is a folder of."""
    with tarfile.open(ARCHIVE) as archive:
        return sorted({int(member.name.partition("/")[0]) for member in archive})


def unpack(schema: int, folder: Path) -> Path:
    """Unpack the data folder of a schema and return its path."""
    with tarfile.open(ARCHIVE) as archive:
        members = [member for member in archive if member.name.startswith(f"{schema}/")]
        archive.extractall(folder, members, filter="data")
    return folder / str(schema) / "data"
