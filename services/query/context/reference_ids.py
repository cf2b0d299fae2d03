"""Assigns the reference ids by which answers cite files."""

from collections import Counter
from collections.abc import Sequence

from contracts.ids import UNKNOWN_SOURCE


def assign_reference_ids(file_paths: Sequence[str]) -> dict[str, str]:
    """Map file paths to reference ids from "1": files with most chunks first, ties in the given
    order.
    """
    counts = Counter(path for path in file_paths if path and path != UNKNOWN_SOURCE)
    ordered_paths = sorted(counts, key=lambda path: -counts[path])
    return {path: str(number) for number, path in enumerate(ordered_paths, 1)}
