"""The groups of one thing's fragments, kept up to date: a further fragment changes one group per level.

The same as `describe`, which makes all groups anew. A group is worked out again only when a fragment or a summary below
it has changed, and its summary is looked for only once.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Mapping

from contracts.ids import sha256
from services.merger.domain.contributions import Key
from services.merger.domain.descriptions import MOST_JOINED, Described, Group, Limits, depth_of, join
from services.merger.domain.fold import Place
from services.merger.domain.ranked import Distinct, Moved

DIGITS = "0123456789abcdef"

Node = tuple[int, str]
"""A group by its level and its place in it: the first hexadecimal digits, one for each level."""


class Tree:
    """Distinct fragments in canonical order, their groups, and the summaries that are known of them."""

    def __init__(self, key: Key, limits: Limits) -> None:
        self._key, self._limits = key, limits
        self._fragments = Distinct()
        self._plant(0)

    def __len__(self) -> int:
        return len(self._fragments)

    def add(self, fragment: str, place: Place) -> None:
        """The fragment is given at this place too."""
        self._moved(fragment, self._fragments.add(fragment, place))

    def remove(self, fragment: str, place: Place) -> None:
        """The fragment is not given at this place any more."""
        self._moved(fragment, self._fragments.remove(fragment, place))

    def unasked(self) -> set[str]:
        """Hashes of groups whose summaries have to be looked for before `described` says what is lacking."""
        if not self._limits.exceeded(self._first()):
            return set()
        self._settle()
        return set(self._unasked)

    def learn(self, known: Mapping[str, str], asked: Collection[str]) -> None:
        """These summaries stand, by hash of group, in place of any before; of all `asked` for there are no others.

        Idempotent: what is known already changes nothing, and leaves nothing unasked.
        """
        for hash in known.keys() & self._named.keys():
            for level, place in self._named[hash]:
                self._open[level].pop(place, None)
                self._stand((level, place), [known[hash]])
            self._unasked.discard(hash)
        self._unasked -= set(asked)

    def described(self) -> Described:
        """What `describe` makes of the same fragments and summaries."""
        first = self._first()
        if not self._limits.exceeded(first):
            return Described(join(first))
        level = self._settle()
        if level is None:
            return Described(join(self._texts[0].get("", ())))
        open = self._open[level]
        return Described(join(first), tuple({open[place].hash: open[place] for place in sorted(open)}.values()))

    def _first(self) -> list[str]:
        """As many of the first fragments as are joined at most, and as tell whether the limits are exceeded."""
        return self._fragments.first(max(MOST_JOINED, self._limits.fragments))

    def _plant(self, depth: int) -> None:
        """All groups anew, for that many levels below the topmost."""
        self._depth = depth
        self._leaves: dict[str, list[tuple[Place, str]]] = defaultdict(list)
        self._texts: list[dict[str, list[str]]] = [{} for _ in range(depth + 1)]
        self._groups: list[dict[str, Group]] = [{} for _ in range(depth + 1)]
        self._open: list[dict[str, Group]] = [{} for _ in range(depth + 1)]
        self._stale: list[set[str]] = [set() for _ in range(depth + 1)]
        self._named: dict[str, set[Node]] = defaultdict(set)
        self._unasked: set[str] = set()
        for place, fragment in self._fragments.placed():
            self._leaves[sha256(fragment)[:depth]].append((place, fragment))
        self._stale[depth] = set(self._leaves)

    def _moved(self, fragment: str, moved: Moved) -> None:
        before, after = moved
        if before == after:
            return
        depth = depth_of(len(self._fragments))
        if depth != self._depth:
            self._plant(depth)
            return
        leaf = sha256(fragment)[:depth]
        texts = self._leaves[leaf]
        if before is not None:
            del texts[bisect_left(texts, (before, fragment))]
        if after is not None:
            insort(texts, (after, fragment))
        self._stale[depth].add(leaf)

    def _settle(self) -> int | None:
        """Work out what is stale, from the leaves up to the first level that lacks summaries. None: no level does."""
        for level in range(self._depth, -1, -1):
            for place in self._stale[level]:
                self._work((level, place))
            self._stale[level].clear()
            if self._open[level]:
                return level
        return None

    def _work(self, node: Node) -> None:
        level, place = node
        inputs = self._inputs(node)
        if old := self._groups[level].get(place):
            if old.texts == tuple(inputs):
                return  # what is known of its summary holds
            self._forget(node, old)
        if not self._limits.exceeded(inputs):
            self._stand(node, inputs)
        else:
            group = Group(self._key, tuple(inputs))
            self._texts[level].pop(place, None)
            self._groups[level][place] = self._open[level][place] = group
            self._named[group.hash].add(node)
            self._unasked.add(group.hash)

    def _forget(self, node: Node, group: Group) -> None:
        """The node is no longer this group."""
        level, place = node
        del self._groups[level][place]
        self._open[level].pop(place, None)
        self._named[group.hash].remove(node)
        if not self._named[group.hash]:
            del self._named[group.hash]
            self._unasked.discard(group.hash)

    def _inputs(self, node: Node) -> list[str]:
        level, place = node
        if level == self._depth:
            return [text for _, text in self._leaves[place]]
        below = self._texts[level + 1]
        return [text for digit in DIGITS for text in below.get(place + digit, ())]

    def _stand(self, node: Node, texts: list[str]) -> None:
        """These texts now stand for the group, none for one without fragments.

        Only other texts than before concern the group above: else two that learn in turn would never come to an end.
        """
        level, place = node
        if self._texts[level].get(place) == texts:
            return
        self._texts[level][place] = texts
        if level:
            self._stale[level - 1].add(place[:-1])
