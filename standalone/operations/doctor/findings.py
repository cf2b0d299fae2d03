"""What a look at a machine, a stack or a deployment finds."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["well", "note", "fault"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `todo` is the way out of a fault."""

    level: Level
    what: str
    todo: str = ""
