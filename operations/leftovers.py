"""Folders of a data folder that hold copies of its data and that nothing reads any more.

`rebuild --fresh` moves stores aside, `repair` writes the repaired log to a folder before it makes
the log anew. Both may be looked into; whoever erases a document removes them, for they may have it.
"""

import shutil
from pathlib import Path

MOVED_ASIDE = ".aside-"
REPAIRED = "repair-"
"""What the names of stores that were moved aside have in them, and how those of repaired logs
begin.
"""


def leftovers(folder: Path) -> dict[Path, int]:
    """Return these folders, and how many bytes each has."""
    paths = sorted([*folder.glob(f"*{MOVED_ASIDE}*"), *folder.glob(f"{REPAIRED}*")])
    return {path: _size(path) for path in paths if path.is_dir()}


def remove_leftovers(folder: Path) -> int:
    """Remove them, and return how many bytes they had."""
    sizes = leftovers(folder)
    for path in sizes:
        shutil.rmtree(path)
    return sum(sizes.values())


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
