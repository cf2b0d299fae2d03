"""Where the guards of a process meet those of the others, and what they tell people of a paused provider."""

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from runtime.bus.port import SharedValues
from runtime.models import limits as rules
from runtime.models.limits import Limits
from runtime.models.limits_guard import Guard, read_state


@dataclass(frozen=True)
class Guards:
    """Makes the guards of one process. `notes` collects what each has to tell people, by what it guards."""

    values: SharedValues | None = None
    notes: dict[str, Callable[[], Awaitable[str | None]]] = field(
        default_factory=dict[str, Callable[[], Awaitable[str | None]]]
    )

    def guard(self, kind: str, name: str, key: str, limits: Limits, patience: float = math.inf) -> Guard:
        """`kind`: what the provider is used for. Replicas with the same `kind` and `key` share its limits.

        Only a hash of both leaves the process: the key may hold a secret.
        """
        guard = Guard(name, limits, self.values, key=f"{kind} {key}", patience=patience)
        self.notes[kind] = guard.note
        return guard


async def paused(values: SharedValues) -> list[str]:
    """What is to be told of every provider that is paused. Raises `Unavailable`."""
    states = [(await read_state(values, key))[0] for key in await values.keys()]
    return [note for state in states if (note := rules.told(state, time.time()))]
