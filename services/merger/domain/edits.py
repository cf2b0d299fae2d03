"""What people said of the graph, as a function of all their edits in the order of the log.

Names in documents ("raw" names) are mapped to the names that entities have now. An edit of values stands over what
documents say. A deletion hides what was in the log before it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from contracts.events import GraphOperation
from contracts.ids import pair
from contracts.values import EditedValues
from services.merger.domain.contributions import Contribution, Key


@dataclass(frozen=True)
class Edit:
    """One GraphEdited with its place in the log."""

    sequence: int
    operation: GraphOperation
    names: tuple[str, ...]
    target: str | None = None
    values: EditedValues = field(default_factory=EditedValues)
    at: int = 0
    """When it was made, in microseconds since 1970; 0 where that is not known."""

    @property
    def concerned(self) -> tuple[str, ...]:
        """Every name it speaks of."""
        return (*self.names, self.target) if self.target else self.names


@dataclass
class Edits:
    """All edits of a workspace, applied. Build it with `applied`."""

    now: dict[str, str] = field(default_factory=dict[str, str])
    """Raw names that have another name now."""
    ever: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    """All names a raw name has ever had, beside itself."""
    renamed: set[str] = field(default_factory=set[str])
    """Every name that had a part in a renaming."""
    said: dict[Key, EditedValues] = field(default_factory=dict[Key, EditedValues])
    """By present key, what people said of it. Being in here keeps a thing in the graph: somebody vouches for it."""
    since: dict[Key, int] = field(default_factory=dict[Key, int])
    """By present key, when people first said what stands in `said`, as `Edit.at`."""
    spoken: set[Key] = field(default_factory=set[Key])
    """Every key people ever spoke of, also where that is no longer so."""
    hidden: dict[Key, int] = field(default_factory=dict[Key, int])
    """By raw key, the place in the log until which nothing counts."""

    def key(self, raw: Key) -> Key | None:
        """Under which key a raw key is folded; None for a relation whose ends have become one."""
        names = [self.now.get(name, name) for name in raw]
        if len(names) == 1:
            return (names[0],)
        return None if names[0] == names[1] else pair(*names)

    def raws(self, key: Key) -> list[Key]:
        """The raw keys that are folded under a key."""
        if len(key) == 1:
            return [(name,) for name in self._raw_names(key[0])]
        return [pair(*ends) for ends in product(*map(self._raw_names, key))]

    def folded(self, key: Key) -> list[tuple[Key, int]]:
        """The raw keys that are folded under a key, each with the place in the log until which nothing counts."""
        return [(raw, self.hidden_until(raw)) for raw in self.raws(key)]

    def touch(self, key: Key) -> bool:
        """Whether any of this may ever have changed by an edit."""
        return key in self.hidden or any(name in self.renamed or (name,) in self.hidden for name in key)

    def hidden_until(self, raw: Key) -> int:
        """The place in the log until which nothing counts that is said of a raw key."""
        return max(self.hidden.get(key, 0) for key in (raw, *((name,) for name in raw)))

    def leave_alone(self, key: Key) -> bool:
        """Whether everything said of the raw key of these names, and nothing else, is folded under it."""
        if not self.now and not self.hidden:
            return True
        return self.raws(key) == [key] and not self.hidden_until(key)

    def keys_ever(self, raws: Iterable[Key]) -> set[Key]:
        """Every key under which these raw keys are folded or may once have been."""
        found: set[Key] = set()
        for raw in raws:
            for names in product(*({name, self.now.get(name, name)} | self.ever.get(name, set()) for name in raw)):
                if len(names) == 1:
                    found.add(names)
                elif names[0] != names[1]:
                    found.add(pair(*names))
        return found

    def raw_names_ever(self, names: Iterable[str]) -> set[str]:
        """The raw names that had one of these names at any time, and the names themselves."""
        wanted = set(names)
        return wanted | {raw for raw, had in self.ever.items() if had & wanted}

    def spoken_of(self, names: Iterable[str]) -> set[Key]:
        """The keys people ever spoke of in which one of these names stands."""
        wanted = set(names)
        return {key for key in self.spoken if wanted.intersection(key)}

    def say(self, key: Key, values: EditedValues, at: int) -> None:
        """What people say of a key now, some of it since `at`."""
        self.said[key] = values
        self.since[key] = earliest(self.since.get(key, 0), at)
        self.spoken.add(key)

    def unsay(self, key: Key) -> tuple[EditedValues | None, int]:
        """Forget what people say of a key, which is returned with its time."""
        return self.said.pop(key, None), self.since.pop(key, 0)

    def counts(self, contribution: Contribution) -> bool:
        """Whether nothing that people said later hides it."""
        return contribution.version > self.hidden_until(contribution.names)

    def _raw_names(self, name: str) -> list[str]:
        raws = [raw for raw, now in self.now.items() if now == name]
        return raws if name in self.now else [name, *raws]


def applied(edits: Sequence[Edit]) -> Edits:
    """All edits, in the order of the log."""
    state = Edits()
    for edit in sorted(edits, key=lambda edit: edit.sequence):
        if edit.operation in {"rename_entity", "merge_entities"}:
            for name in edit.names:
                _rename(state, name, edit.target or name)
        elif edit.operation == "delete_entity":
            _hide(state, edit.names, edit.sequence)
            for key in state.spoken_of(edit.names):
                state.unsay(key)
        elif edit.operation == "delete_relation":
            key = pair(*edit.names)
            _hide(state, key, edit.sequence)
            state.unsay(key)
        else:
            key = edit.names if len(edit.names) == 1 else pair(*edit.names)
            state.say(key, _over(state.said.get(key), edit.values), edit.at)
            for name in key:
                state.say((name,), state.said.get((name,), EditedValues()), edit.at)
    return state


def earliest(*times: int) -> int:
    """The first of the times that are known, for 0 stands for one that is not."""
    return min(filter(None, times), default=0)


def _hide(state: Edits, key: Key, sequence: int) -> None:
    for raw in state.raws(key):
        state.hidden[raw] = sequence


def _rename(state: Edits, old: str, new: str) -> None:
    if old == new:
        return
    state.renamed |= {old, new}
    for (raw,) in state.raws((old,)):
        state.renamed.add(raw)
        state.now[raw] = new
        state.ever[raw] |= {old, new} - {raw}
    for key in state.spoken_of([old]) & state.said.keys():
        values, since = state.unsay(key)
        renamed = tuple(new if name == old else name for name in key)
        if len(renamed) == 1 or renamed[0] != renamed[1]:
            target = renamed if len(renamed) == 1 else pair(*renamed)
            # What was said of the entity that goes on stands over what was said of the one that is merged into it.
            state.say(target, _over(values, state.said.get(target, EditedValues())), since)


def _over(below: EditedValues | None, above: EditedValues) -> EditedValues:
    """Values that were given above stand over those below."""
    given = {name: value for name, value in above.model_dump().items() if value is not None}
    return (below or EditedValues()).model_copy(update=given)
