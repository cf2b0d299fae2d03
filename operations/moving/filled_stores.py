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
    known_addresses: list[Addresses] = json.loads(value) if value else []
    new_addresses = [
        dict(addresses) for addresses in sets if dict(addresses) not in known_addresses
    ]
    if new_addresses:
        await values.write(KEY, json.dumps([*known_addresses, *new_addresses]).encode(), revision)


async def left_behind(values: SharedValues, present_addresses: Addresses) -> list[str]:
    """Return a sentence for each set of stores that is not the present one, with the way out.
    Raises `Unavailable`.
    """
    value, _ = await values.read(KEY)
    known_addresses: Sequence[Addresses] = json.loads(value) if value else []
    return [
        f"not reached: the stores {', '.join(stores.values())}, which this log has filled, too. "
        "Empty them, or fill them anew with `lightstream rebuild all --to ENV_FILE`"
        for stores in known_addresses
        if dict(stores) != dict(present_addresses)
    ]
