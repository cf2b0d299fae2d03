"""Homonyms: one name that means different things in different documents, because somebody said so.

A document's own name for a thing is its original name. Where a homonym is split, the name stands in
some documents for another original name; everything else, renaming and merging too, goes by the
name that is meant.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from contracts.ids import pair
from knowledge.contributions import Key


@dataclass(frozen=True, slots=True)
class Documents:
    """Some documents of a workspace: those listed, or all but those listed."""

    ids: frozenset[str] = frozenset()
    is_excluding: bool = True

    def __contains__(self, document: str) -> bool:
        return (document in self.ids) != self.is_excluding


EVERY = Documents()


class Source(NamedTuple):
    """Contributions that belong to a canonical key: to the key as these documents have it, above
    the cutoff.
    """

    key: Key
    cutoff: int = 0
    """The sequence in the log up to which contributions are hidden."""
    documents: Documents = EVERY


@dataclass
class Homonyms:
    """Which original name a name means in a document, where that is not the name itself."""

    meanings: dict[str, dict[str, str]] = field(
        default_factory=lambda: defaultdict[str, dict[str, str]](dict)
    )
    """By the name in the document, and the document: the original name that is meant."""
    _names: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    """By original name, the names that ever came to mean it in some document."""

    def split(self, originals: Iterable[str], target: str, documents: Iterable[str]) -> None:
        """In these documents, let what means one of the original names mean the target instead."""
        originals = set(originals)
        documents = list(documents)
        for name in sorted(self.names_of(originals)):
            for document in documents:
                if self.meaning(name, document) in originals:
                    self.meanings[name][document] = target
                    self._names[target].add(name)

    def meaning(self, name: str, document: str) -> str:
        """Return the original name that the name means in the document."""
        return self.meanings[name].get(document, name) if name in self.meanings else name

    def meant_key(self, key: Key, document: str) -> Key:
        """Return the original key that a key of the document means; both ends of a relation may
        mean one thing.
        """
        if not any(name in self.meanings for name in key):
            return key
        names = [self.meaning(name, document) for name in key]
        return (names[0],) if len(names) == 1 else pair(*names)

    def names_of(self, originals: Iterable[str]) -> list[str]:
        """Return the names that may mean one of these original names in some document, in a fixed
        order.
        """
        own_names = list(originals)
        split_names: set[str] = set()
        for original in own_names:
            split_names.update(self._names.get(original, ()))
        return [*own_names, *sorted(split_names.difference(own_names))]

    def documents(self, key: Key) -> set[str]:
        """Return the documents in which the key may mean another than elsewhere."""
        return {document for name in key for document in self.meanings.get(name, ())}
