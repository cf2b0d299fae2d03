"""What the list of references says of sources that are not in force, or that others outweigh."""

from collections.abc import Iterable, Mapping

from services.query.standing import Precedence, Standing


def source_notes(
    standings: Iterable[Standing],
    precedences: Iterable[Precedence],
    references: Mapping[str, str],
) -> dict[str, dict[str, str]]:
    """Return by file path the fields that the line of a source has beside its own."""
    notes = {standing.file_path: _validity(standing, references) for standing in standings}
    for precedence in precedences:
        weightier, lighter = precedence.weightier, precedence.lighter
        for statement in (weightier, lighter):
            notes.setdefault(statement.file_path, {})["authority"] = str(statement.authority)
        notes[lighter.file_path]["contradicted_by"] = _named(weightier.file_path, references)
    return notes


def _validity(standing: Standing, references: Mapping[str, str]) -> dict[str, str]:
    note: dict[str, str] = {}
    if standing.successors:
        successor = standing.successors[0]
        note["superseded_by"] = _named(successor.file_path, references)
        note["superseded_since"] = f"{successor.since:%Y-%m-%d}"
    if standing.valid_from:
        note["valid_from"] = f"{standing.valid_from:%Y-%m-%d}"
    if standing.valid_until:
        note["valid_until"] = f"{standing.valid_until:%Y-%m-%d}"
    return note


def _named(file_path: str, references: Mapping[str, str]) -> str:
    reference = references.get(file_path)
    return f"[{reference}] {file_path}" if reference else file_path
