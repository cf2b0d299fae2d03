"""The share of a sweep that `make test` has; `make nightly` runs the rest."""

from collections.abc import Iterable
from typing import Any

import pytest


def share(rows: Iterable[Any], *, daily: int) -> list[Any]:
    """Rows for `parametrize`: so many of the first run by day, the others by night.

    Put first what differs most.
    """
    return [row if place < daily else _nightly(row) for place, row in enumerate(rows)]


def _nightly(row: Any) -> Any:
    values = row if isinstance(row, tuple) else (row,)
    return pytest.param(*values, marks=pytest.mark.nightly)
