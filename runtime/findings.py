"""Findings about a machine, a stack or a deployment: what `lightstream doctor` tells."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["well", "note", "fault"]


@dataclass(frozen=True)
class Finding:
    """The result of one check. `todo` says how to repair a fault."""

    level: Level
    what: str
    todo: str = ""
