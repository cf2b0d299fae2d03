"""The history of a key: how often it has changed, and what changed it the last times."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

_SUMMARY = "#"


@dataclass(frozen=True)
class Changes:
    """What changed a key between two revisions: hashes of chunks, and of the groups that were
    summarised.
    """

    chunks: set[str]
    summaries: set[str]


@dataclass(frozen=True)
class History:
    """The revision of a key, which counts its changes, and a note of each of the last changes, the
    newest last.
    """

    revision: int
    notes: tuple[str, ...] = ()

    @staticmethod
    def note(chunks: Iterable[str], summaries: Collection[str] = ()) -> str:
        """Return the note of one change: which chunks contribute anew or no more, which groups have
        a summary.
        """
        return " ".join((*chunks, *(_SUMMARY + hash for hash in summaries)))

    def changes_since(self, revision: int) -> Changes | None:
        """Return all changes after that revision; None if there are no notes of some of them."""
        count = self.revision - revision
        if count > len(self.notes):
            return None
        entries = _entries(self.notes[len(self.notes) - max(count, 0) :])
        summaries = {entry for entry in entries if entry.startswith(_SUMMARY)}
        return Changes(entries - summaries, {entry[1:] for entry in summaries})

    def new_entries_since(self, revision: int) -> set[str] | None:
        """Return what changes after that revision name and none before has named; None if notes of
        some are missing.
        """
        if (count := max(self.revision - revision, 0)) > len(self.notes):
            return None
        start = len(self.notes) - count
        return _entries(self.notes[start:]) - _entries(self.notes[:start])

    def times(self, entry: str) -> int:
        """Return how many of the noted changes name it."""
        return sum(entry in note.split() for note in self.notes)


def _entries(notes: Iterable[str]) -> set[str]:
    return {entry for note in notes for entry in note.split()}
