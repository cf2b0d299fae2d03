"""Which stores this log has filled: each move notes them on the bus, for an erasure reaches only
those that serve.
"""

import json
from collections.abc import Mapping, Sequence

from runtime.bus.port import SharedValues

KEY = "filled_stores"
"""In the bucket of checkpoints: the addresses of every set of stores that a move began from or went
to.
"""

Addresses = Mapping[str, str]


async def note_filled(values: SharedValues, *sets: Addresses) -> None:
    """Note these sets of stores, each once. Raises `Unavailable`. For whoever holds the lease of
    rebuilds.
    """
    value, revision = await values.read(KEY)
    known: list[Addresses] = json.loads(value) if value else []
    new = [dict(one) for one in sets if dict(one) not in known]
    if new:
        await values.write(KEY, json.dumps([*known, *new]).encode(), revision)


async def left_behind(values: SharedValues, present: Addresses) -> list[str]:
    """Return a sentence for each set of stores that is not the present one, with the way out.
    Raises `Unavailable`.
    """
    value, _ = await values.read(KEY)
    known: Sequence[Addresses] = json.loads(value) if value else []
    return [
        f"not reached: the stores {', '.join(one.values())}, which this log has filled, too. "
        "Empty them, or fill them "
        "anew with `lightstream rebuild all --to ENV_FILE`"
        for one in known
        if dict(one) != dict(present)
    ]
