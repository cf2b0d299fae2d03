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

from contracts.graph_edits import EditedValues
from contracts.ids import pair
from knowledge.contributions import Key
from knowledge.edit import Edit, standing_edits
from knowledge.homonyms import Documents, Homonyms, Source

_RENAMING = {"rename_entity", "merge_entities", "accept_alias"}
_MOVING = _RENAMING | {"split_entity"}
_VALUED = {"create_entity", "edit_entity", "create_relation", "edit_relation"}


@dataclass
class Edits:
    """The state after all edits of a workspace. Build it with `apply_edits`."""

    current_names: dict[str, str] = field(default_factory=dict[str, str])
    """Canonical names by original name, where they differ."""
    originals_by_name: dict[str, dict[str, None]] = field(
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

    def canonical_key(self, original: Key, document: str = "") -> Key | None:
        """Return the canonical key of a key of this document; None for a relation whose two ends
        are one entity.
        """
        names = [
            self.current_names.get(name, name)
            for name in self.homonyms.meant_key(original, document)
        ]
        if len(names) == 1:
            return (names[0],)
        return None if names[0] == names[1] else pair(*names)

    def original_keys(self, key: Key) -> list[Key]:
        """Return the original keys of a canonical key."""
        return [_key_of(names) for names in product(*map(self._original_names, key))]

    def sources(self, key: Key) -> tuple[Source, ...]:
        """Return whose contributions belong to a canonical key; several for one original key have
        other documents.
        """
        is_edited = self.current_names or self.hidden_keys or self.homonyms.meanings
        if not is_edited:  # as in most workspaces
            return (Source(key),)
        if not self.homonyms.meanings:
            return tuple(
                Source(original, self.cutoff(original)) for original in self.original_keys(key)
            )
        names = [self.homonyms.names_of(self._original_names(name)) for name in key]
        originals = dict.fromkeys(_key_of(combination) for combination in product(*names))
        sources: list[Source] = []
        for original in originals:
            sources += self._sources_of(original, key)
        return tuple(sources)

    def _sources_of(self, original: Key, key: Key) -> Iterator[Source]:
        documents = self.homonyms.documents(original)
        if self.canonical_key(original) == key:
            yield Source(original, self.cutoff(original), Documents(frozenset(documents)))
        documents_by_cutoff: defaultdict[int, set[str]] = defaultdict(set)
        for document in documents:
            if self.canonical_key(original, document) == key:
                documents_by_cutoff[self.cutoff(original, document)].add(document)
        for cutoff, of_cutoff in sorted(documents_by_cutoff.items()):
            yield Source(original, cutoff, Documents(frozenset(of_cutoff), is_excluding=False))

    def affects(self, key: Key) -> bool:
        """Return whether an edit may ever have changed which contributions belong to the key."""
        if not (self.renamed_names or self.hidden_keys):
            return False
        return key in self.hidden_keys or any(
            name in self.renamed_names or (name,) in self.hidden_keys for name in key
        )

    def cutoff(self, original: Key, document: str = "") -> int:
        """Return the sequence up to which contributions to a key of this document are hidden; 0 if
        none are.
        """
        meant_key = self.homonyms.meant_key(original, document)
        entities = [(name,) for name in meant_key]
        return max(self.hidden_keys.get(key, 0) for key in (meant_key, *entities))

    def is_unedited(self, key: Key) -> bool:
        """Return whether all contributions to the key of these names, and no others, belong to
        it.
        """
        return self.sources(key) == (Source(key),)

    def all_canonical_keys(self, originals: Iterable[Key]) -> set[Key]:
        """Return every canonical key that these original keys have or may once have had."""
        if not (self.current_names or self.former_names):
            return set(originals)
        keys: set[Key] = set()
        for original in originals:
            if not any(self._was_renamed(name) for name in original):
                keys.add(original)
                continue
            possible_names = [self._possible_names(name) for name in original]
            for names in product(*possible_names):
                if len(set(names)) == len(original):
                    keys.add(_key_of(names))
        return keys

    def _was_renamed(self, original: str) -> bool:
        return original in self.current_names or original in self.former_names

    def _possible_names(self, original: str) -> set[str]:
        """Return every name that an original name has or may once have had."""
        names = {original, self.current_names.get(original, original)}
        return names.union(self.former_names.get(original, ()))

    def all_original_names(self, names: Iterable[str]) -> set[str]:
        """Return the original names that had one of these names at any time, and the names
        themselves.
        """
        all_names = set(names)
        originals = [
            original
            for original, former_names in self.former_names.items()
            if not former_names.isdisjoint(all_names)
        ]
        return all_names.union(originals)

    def other_names(self) -> list[tuple[str, str]]:
        """Return the names in documents that mean an entity of another name somewhere, each with
        that name.
        """
        pairs = set(self.current_names.items())
        for name, meanings in self.homonyms.meanings.items():
            for original in meanings.values():
                pairs.add((name, self.current_names.get(original, original)))
        return sorted((name, entity) for name, entity in pairs if name != entity)

    def edited_keys_with(self, names: Iterable[str]) -> set[Key]:
        """Return the keys with one of these names whose values were ever edited."""
        return set[Key]().union(*(self.edited_keys.get(name, ()) for name in names))

    def set_values(self, key: Key, values: EditedValues, moment: int) -> None:
        """Set the edited values of a key, edited at this moment; the first moment counts."""
        self.values[key] = values
        self.edited_at[key] = earliest(self.edited_at.get(key, 0), moment)

    def remove_values(self, key: Key) -> tuple[EditedValues | None, int]:
        """Remove and return the edited values of a key and the time of their first edit."""
        return self.values.pop(key, None), self.edited_at.pop(key, 0)

    def rename(self, original: str, name: str) -> None:
        """Give an original name another canonical one."""
        if original in self.current_names:
            del self.originals_by_name[self.current_names[original]][original]
        self.current_names[original] = name
        self.originals_by_name[name][original] = None

    def _original_names(self, name: str) -> list[str]:
        originals = list(self.originals_by_name.get(name, ()))
        return originals if name in self.current_names else [name, *originals]


def apply_edits(edits: Sequence[Edit]) -> Edits:
    """Return the state after all these edits, in the order of the log."""
    state = Edits()
    edits = sorted(edits, key=lambda edit: edit.sequence)
    _note_possible_names(state, edits)
    for edit in standing_edits(edits):
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
            key = _key_of(edit.names)
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
            _note_edited_keys(state, _key_of(edit.names))


def _note_edited_keys(state: Edits, key: Key) -> None:
    for edited_key in {key, *((name,) for name in key)}:
        for possible_key in state.all_canonical_keys([edited_key]):
            for name in possible_key:
                state.edited_keys[name].add(possible_key)


def _reachable(start: str, steps: Mapping[str, set[str]]) -> set[str]:
    """Return the names that any sequence of these renames may give to a name."""
    reachable_names: set[str] = set()
    unvisited_names = [start]
    while unvisited_names:
        further_names = steps.get(unvisited_names.pop(), set()) - reachable_names
        reachable_names |= further_names
        unvisited_names += further_names
    return reachable_names


def _key_of(names: Sequence[str]) -> Key:
    return (names[0],) if len(names) == 1 else pair(*names)


def _hide(state: Edits, key: Key, sequence: int) -> None:
    for original in state.original_keys(key):
        state.hidden_keys[original] = sequence


def _rename(state: Edits, name: str, target: str) -> None:
    if name == target:
        return
    for (original,) in state.original_keys((name,)):
        state.rename(original, target)
    for key in state.edited_keys_with([name]) & state.values.keys():
        values, edited_at = state.remove_values(key)
        names = [target if end == name else end for end in key]
        if len(set(names)) == len(key):
            target_key = _key_of(names)
            # Edits of the entity that remains override those of the entity merged into it.
            remaining_values = state.values.get(target_key, EditedValues())
            state.set_values(target_key, _merge_values(values, remaining_values), edited_at)


def _merge_values(below: EditedValues | None, above: EditedValues) -> EditedValues:
    """Return the values below, overridden by those that are set above."""
    overrides = {name: value for name, value in above.model_dump().items() if value is not None}
    return (below or EditedValues()).model_copy(update=overrides)
