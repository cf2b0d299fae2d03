"""Applies the edits of users to the graph, in the order of the log.

Original names and keys are those in documents, canonical ones those that entities and relations
have now; where a name was split, it means another original name in some documents (`homonyms.py`).
Edited values override what documents say. A deletion hides what was in the log before it. An alias
that is undone or rejected is as if it had never been accepted: only edits that stand make the
state. What has to be folded when edits come in another order, or are taken back, follows from all
of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from contracts.folding.contributions import Key
from contracts.folding.edit import Edit, standing_edits
from contracts.folding.homonyms import Documents, Homonyms, Source
from contracts.ids import pair
from contracts.values import EditedValues

_RENAMING = {"rename_entity", "merge_entities", "accept_alias"}
_MOVING = _RENAMING | {"split_entity"}
_VALUED = {"create_entity", "edit_entity", "create_relation", "edit_relation"}


@dataclass
class Edits:
    """The state after all edits of a workspace. Build it with `apply_edits`."""

    current_names: dict[str, str] = field(default_factory=dict[str, str])
    """Canonical names by original name, where they differ."""
    names_now: dict[str, dict[str, None]] = field(
        default_factory=lambda: defaultdict[str, dict[str, None]](dict)
    )
    """The original names by canonical name, of `current_names`, in the order in which they came to
    have it.
    """
    homonyms: Homonyms = field(default_factory=Homonyms)
    """What names mean in single documents, where they were split."""
    former_names: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """All other names an original name may ever have had, whichever edits were known in whichever
    order.
    """
    renamed_names: set[str] = field(default_factory=set[str])
    """Every name that was ever renamed, split, or given to another, or of which a deletion was
    undone.
    """
    values: dict[Key, EditedValues] = field(default_factory=dict[Key, EditedValues])
    """Edited values by canonical key. A key with an entry stays in the graph without contributions,
    too.
    """
    edited_at: dict[Key, int] = field(default_factory=dict[Key, int])
    """By canonical key, when its `values` were first edited, as `Edit.at`."""
    edited_keys: dict[str, set[Key]] = field(
        default_factory=lambda: defaultdict[str, set[Key]](set)
    )
    """Every key that may ever have had edited values, also if the edit is gone, by each of its
    names.
    """
    hidden_keys: dict[Key, int] = field(default_factory=dict[Key, int])
    """By original key, the sequence in the log up to which contributions are hidden."""

    def canonical_key(self, raw: Key, document: str = "") -> Key | None:
        """Return the canonical key of a key of this document; None for a relation whose two ends
        are one entity.
        """
        names = [
            self.current_names.get(name, name) for name in self.homonyms.meant_key(raw, document)
        ]
        if len(names) == 1:
            return (names[0],)
        return None if names[0] == names[1] else pair(*names)

    def original_keys(self, key: Key) -> list[Key]:
        """Return the original keys of a canonical key."""
        if len(key) == 1:
            return [(name,) for name in self._original_names(key[0])]
        return [pair(*ends) for ends in product(*map(self._original_names, key))]

    def sources(self, key: Key) -> tuple[Source, ...]:
        """Return whose contributions belong to a canonical key; several for one original key have
        other documents.
        """
        if not (
            self.current_names or self.hidden_keys or self.homonyms.meanings
        ):  # as in most workspaces
            return (Source(key),)
        if not self.homonyms.meanings:
            return tuple(Source(raw, self.cutoff(raw)) for raw in self.original_keys(key))
        names = [self.homonyms.names_of(self._original_names(name)) for name in key]
        raws = (
            [(name,) for name in names[0]]
            if len(key) == 1
            else [pair(*ends) for ends in product(*names)]
        )
        return tuple(source for raw in dict.fromkeys(raws) for source in self._sources_of(raw, key))

    def _sources_of(self, raw: Key, key: Key) -> Iterator[Source]:
        documents = self.homonyms.documents(raw)
        if self.canonical_key(raw) == key:
            yield Source(raw, self.cutoff(raw), Documents(frozenset(documents)))
        listed: defaultdict[int, set[str]] = defaultdict(set)
        for document in documents:
            if self.canonical_key(raw, document) == key:
                listed[self.cutoff(raw, document)].add(document)
        for cutoff, some in sorted(listed.items()):
            yield Source(raw, cutoff, Documents(frozenset(some), excluded=False))

    def affects(self, key: Key) -> bool:
        """Return whether an edit may ever have changed which contributions belong to the key."""
        if not (self.renamed_names or self.hidden_keys):
            return False
        return key in self.hidden_keys or any(
            name in self.renamed_names or (name,) in self.hidden_keys for name in key
        )

    def cutoff(self, raw: Key, document: str = "") -> int:
        """Return the sequence up to which contributions to a key of this document are hidden; 0 if
        none are.
        """
        meant = self.homonyms.meant_key(raw, document)
        return max(self.hidden_keys.get(key, 0) for key in (meant, *((name,) for name in meant)))

    def is_unedited(self, key: Key) -> bool:
        """Return whether all contributions to the key of these names, and no others, belong to
        it.
        """
        return self.sources(key) == (Source(key),)

    def all_canonical_keys(self, raws: Iterable[Key]) -> set[Key]:
        """Return every canonical key that these original keys have or may once have had."""
        if not (self.current_names or self.former_names):
            return set(raws)
        keys: set[Key] = set()
        for raw in raws:
            if not any(name in self.current_names or name in self.former_names for name in raw):
                keys.add(raw)
                continue
            for names in product(
                *(
                    {name, self.current_names.get(name, name)} | self.former_names.get(name, set())
                    for name in raw
                )
            ):
                if len(names) == 1:
                    keys.add(names)
                elif names[0] != names[1]:
                    keys.add(pair(*names))
        return keys

    def all_original_names(self, names: Iterable[str]) -> set[str]:
        """Return the original names that had one of these names at any time, and the names
        themselves.
        """
        searched = set(names)
        return searched | {raw for raw, former in self.former_names.items() if former & searched}

    def other_names(self) -> list[tuple[str, str]]:
        """Return the names in documents that mean an entity of another name somewhere, each with
        that name.
        """
        meant = [
            (name, other)
            for name, some in self.homonyms.meanings.items()
            for other in some.values()
        ]
        pairs = {(name, self.current_names.get(other, other)) for name, other in meant}
        return sorted(one for one in pairs | set(self.current_names.items()) if one[0] != one[1])

    def edited_keys_with(self, names: Iterable[str]) -> set[Key]:
        """Return the keys with one of these names whose values were ever edited."""
        return set[Key]().union(*(self.edited_keys.get(name, ()) for name in names))

    def set_values(self, key: Key, values: EditedValues, at: int) -> None:
        """Set the edited values of a key, the first of them edited `at` this time."""
        self.values[key] = values
        self.edited_at[key] = earliest(self.edited_at.get(key, 0), at)

    def remove_values(self, key: Key) -> tuple[EditedValues | None, int]:
        """Remove and return the edited values of a key and the time of their first edit."""
        return self.values.pop(key, None), self.edited_at.pop(key, 0)

    def rename(self, raw: str, new: str) -> None:
        """Give an original name another canonical one."""
        if raw in self.current_names:
            del self.names_now[self.current_names[raw]][raw]
        self.current_names[raw] = new
        self.names_now[new][raw] = None

    def _original_names(self, name: str) -> list[str]:
        raws = list(self.names_now.get(name, ()))
        return raws if name in self.current_names else [name, *raws]


def apply_edits(edits: Sequence[Edit]) -> Edits:
    """Return the state after all these edits, in the order of the log."""
    state = Edits()
    ordered = sorted(edits, key=lambda edit: edit.sequence)
    _note_possible_names(state, ordered)
    for edit in standing_edits(ordered):
        if edit.operation in _RENAMING:
            for name in edit.names:
                _rename(state, name, edit.target or name)
        elif edit.operation == "split_entity":
            originals = [name for (name,) in state.original_keys(edit.names)]
            state.homonyms.split(originals, edit.target or edit.names[0], edit.documents)
        elif edit.operation == "delete_entity":
            _hide(state, edit.names, edit.sequence)
            for key in state.edited_keys_with(edit.names):
                state.remove_values(key)
        elif edit.operation == "delete_relation":
            key = pair(*edit.names)
            _hide(state, key, edit.sequence)
            state.remove_values(key)
        else:
            key = _edited_key(edit)
            state.set_values(key, _merge_values(state.values.get(key), edit.values), edit.at)
            for name in key:
                state.set_values((name,), state.values.get((name,), EditedValues()), edit.at)
    return state


def earliest(*times: int) -> int:
    """Return the earliest of the times; 0 stands for an unknown one."""
    return min(filter(None, times), default=0)


def _note_possible_names(state: Edits, edits: Sequence[Edit]) -> None:
    """Note which names each name, and which keys each edited value, may have had after any of these
    edits.
    """
    steps: dict[str, set[str]] = defaultdict(set)
    for edit in edits:
        if edit.operation in _MOVING and edit.target:
            for name in edit.names:
                steps[name].add(edit.target)
    for name in list(steps):
        state.former_names[name] = _reachable(name, steps) - {name}
    state.renamed_names = steps.keys() | set[str]().union(*steps.values())
    for edit in edits:
        if edit.operation == "undo_edit":
            state.renamed_names |= state.all_original_names(edit.all_names)
        elif edit.operation in _VALUED:
            _note_edited_keys(state, _edited_key(edit))


def _note_edited_keys(state: Edits, key: Key) -> None:
    for possible in {key, *((name,) for name in key)}:
        for moved in state.all_canonical_keys([possible]):
            for name in moved:
                state.edited_keys[name].add(moved)


def _reachable(start: str, steps: Mapping[str, set[str]]) -> set[str]:
    """Return the names that any sequence of these renames may give to a name."""
    reached, pending = set[str](), [start]
    while pending:
        new = steps.get(pending.pop(), set()) - reached
        reached |= new
        pending += new
    return reached


def _edited_key(edit: Edit) -> Key:
    return edit.names if len(edit.names) == 1 else pair(*edit.names)


def _hide(state: Edits, key: Key, sequence: int) -> None:
    for raw in state.original_keys(key):
        state.hidden_keys[raw] = sequence


def _rename(state: Edits, old: str, new: str) -> None:
    if old == new:
        return
    for (raw,) in state.original_keys((old,)):
        state.rename(raw, new)
    for key in state.edited_keys_with([old]) & state.values.keys():
        values, since = state.remove_values(key)
        renamed = tuple(new if name == old else name for name in key)
        if len(renamed) == 1 or renamed[0] != renamed[1]:
            target = renamed if len(renamed) == 1 else pair(*renamed)
            # Edits of the entity that remains override those of the one that is merged into it.
            state.set_values(
                target, _merge_values(values, state.values.get(target, EditedValues())), since
            )


def _merge_values(below: EditedValues | None, above: EditedValues) -> EditedValues:
    """Return the values below, overridden by those that are set above."""
    overrides = {name: value for name, value in above.model_dump().items() if value is not None}
    return (below or EditedValues()).model_copy(update=overrides)
