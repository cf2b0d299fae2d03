"""What this process remembers of things that many chunks name, so that a further chunk need not read all of it again.

A hub that was right at revision r is right at r + 1 when our own counting returned exactly r + 1: nobody else counted
in between, and what others have written but not counted will be folded by them under a higher number. Whoever finds
any other number reads everything, so this memory may be empty, old or lost: it changes the cost, never the graph.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from contracts.graph import Partition
from services.merger.domain.contributions import Key
from services.merger.domain.hub import Hub

MOST = 128 * 1024 * 1024
"""Bytes that all hubs together may take, about 80,000 contributions to large hubs."""

LEAST = 8
"""Contributions from which on a thing is worth remembering; fewer are read about as fast as one."""


class Hubs:
    """Hubs by space and key. Those that were used longest ago are forgotten when all take more than `most` bytes."""

    def __init__(self, most: int = MOST, least: int = LEAST) -> None:
        self._most, self.least = most, least
        self._hubs: OrderedDict[tuple[Partition, Key], tuple[Hub, int]] = OrderedDict()
        self._size = 0

    def at(self, space: Partition, revisions: Mapping[Key, int]) -> dict[Key, Hub]:
        """Those of the keys that stand at exactly these revisions."""
        found = {key: self._hubs[space, key][0] for key in revisions if (space, key) in self._hubs}
        return {key: hub for key, hub in found.items() if hub.revision == revisions[key]}

    def keep(self, space: Partition, hubs: Iterable[Hub]) -> None:
        """Remember these as they are now, where no newer one is remembered of their key."""
        for hub in hubs:
            if (found := self._hubs.get((space, hub.key))) and found[0].revision > hub.revision:
                continue
            self._forget((space, hub.key))
            self._hubs[space, hub.key] = (hub, hub.size)
            self._size += hub.size
        while self._size > self._most:
            self._forget(next(iter(self._hubs)))

    def _forget(self, place: tuple[Partition, Key]) -> None:
        if found := self._hubs.pop(place, None):
            self._size -= found[1]
