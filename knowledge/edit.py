"""One edit of the graph as the log has it, and which of several are in force."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from contracts.events import GraphEdited
from contracts.graph_edits import EditedValues, GraphOperation


@dataclass(frozen=True)
class Edit:
    """One GraphEdited with its sequence in the log."""

    sequence: int
    operation: GraphOperation
    names: tuple[str, ...]
    target: str | None = None
    values: EditedValues = field(default_factory=EditedValues)
    at: int = 0
    """When it was made, in microseconds since 1970; 0 if unknown."""
    editor: str = ""
    proposed_by: str = ""
    evidence: str = ""
    undoes: int = 0
    """Of an undoing: the sequence of the edit that is taken back."""
    documents: tuple[str, ...] = ()
    """Of a split: those in which the name means the target."""

    @property
    def all_names(self) -> tuple[str, ...]:
        """Return every name in it."""
        return (*self.names, self.target) if self.target else self.names


def edit_of(sequence: int, moment: int, event: GraphEdited) -> Edit:
    """Return the edit that the event at this sequence brings. `moment` is in microseconds since
    1970.
    """
    return Edit(
        sequence,
        event.operation,
        event.names,
        event.target,
        event.values,
        moment,
        event.editor,
        event.proposed_by,
        event.evidence,
        event.undoes or 0,
        event.documents,
    )


def standing_edits(edits: Sequence[Edit]) -> list[Edit]:
    """Return, of edits in the order of the log, those that change the graph and that no later one
    takes back.

    Rejecting or undoing an alias takes back its acceptance, and a merge of the same name into the
    same entity. What is undone by its sequence may be an undoing itself.
    """
    standing: list[Edit] = []
    withdrawn: set[tuple[str, str | None]] = set()
    undone = undone_edits(edits)
    for edit in reversed(edits):
        if edit.operation == "undo_edit" or edit.sequence in undone:
            continue
        if edit.operation in ("undo_alias", "reject_alias"):
            withdrawn |= {(name, edit.target) for name in edit.names}
        elif edit.operation in ("accept_alias", "merge_entities"):
            names = tuple(name for name in edit.names if (name, edit.target) not in withdrawn)
            standing += [replace(edit, names=names)] if names else []
        elif edit.operation != "propose_alias":
            standing.append(edit)
    return standing[::-1]


def undone_edits(edits: Sequence[Edit]) -> dict[int, int]:
    """Return by sequence the edits that are taken back by their sequence, each with that of the
    undoing that counts.
    """
    undone: dict[int, int] = {}
    for edit in reversed(edits):
        if edit.operation == "undo_edit" and edit.sequence not in undone:
            undone.setdefault(edit.undoes, edit.sequence)
    return undone
