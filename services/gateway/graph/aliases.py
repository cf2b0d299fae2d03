"""Aliases for people: what was decided about them, and deciding. A decision is an edit of the graph
in the log.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from contracts.graph import Partition
from contracts.graph_edits import GraphOperation
from runtime.errors import NotFound
from services.gateway.graph.editing import EditResult, GraphEditor
from services.query.errors import BadRequest
from services.query.lookup.entity_names import known_name
from services.query.retrieval.port import AliasEdit, EntityAliases

AliasState = Literal["accepted", "rejected", "proposed"]
Decision = Literal["accept", "reject", "propose", "undo"]

OPERATIONS: dict[Decision, GraphOperation] = {
    "accept": "accept_alias",
    "reject": "reject_alias",
    "propose": "propose_alias",
    "undo": "undo_alias",
}
_STATES: dict[str, AliasState] = {
    "accept_alias": "accepted",
    "merge_entities": "accepted",
    "reject_alias": "rejected",
    "propose_alias": "proposed",
}


@dataclass(frozen=True)
class Alias:
    """What was decided last about a name and an entity. `at`: microseconds since 1970."""

    name: str
    target: str
    state: AliasState
    at: int
    editor: str = ""
    proposed_by: str = ""
    evidence: str = ""


def decided(edits: Iterable[AliasEdit]) -> list[Alias]:
    """Return the decisions that stand, by name and entity. A proposal takes back no decision."""
    standing: dict[tuple[str, str], Alias] = {}
    for edit in edits:
        for key in ((name, edit.target) for name in edit.names if name != edit.target):
            if edit.operation == "undo_alias":
                standing.pop(key, None)
            elif edit.operation != "propose_alias" or key not in standing:
                details = (edit.at, edit.editor, edit.proposed_by, edit.evidence)
                standing[key] = Alias(*key, _STATES[edit.operation], *details)
    return [standing[key] for key in sorted(standing)]


async def decide(
    editor: GraphEditor,
    aliases: EntityAliases,
    decision: Decision,
    names: Sequence[str],
    target: str,
    **details: str,
) -> EditResult[bool]:
    """Publish a decision on names that may mean the entity `target`, and wait until the graph and
    the list of decisions show it.

    `details`: `proposed_by` and `evidence`, as in the event. Raises NotFound for an entity that is
    not there and for an undoing of what nobody decided, BadRequest for an entity as an alias of
    itself.
    """
    partition = await editor.partition()
    target = await known_name(editor.graph, partition, target)
    names = list(dict.fromkeys([await known_name(editor.graph, partition, name) for name in names]))
    if target in names:
        raise BadRequest(f"{target!r} is no alias of itself")
    before = {
        (alias.name, alias.target): alias for alias in decided(await aliases.edits(partition))
    }
    accepted_before = any(
        (alias := before.get((name, target))) and alias.state == "accepted" for name in names
    )
    undecided_names = [name for name in names if (name, target) not in before]
    if decision == "undo" and undecided_names:
        raise NotFound(f"nobody has decided whether {undecided_names[0]!r} means {target!r}")
    # What was decided or proposed once may be rejected also where its entity is gone.
    if decision in ("accept", "propose") or undecided_names:
        await editor.entity(target)
    revision = await editor.revision(partition, target)
    sequence = await editor.publish(OPERATIONS[decision], names, target=target, **details)
    changes_graph = decision == "accept" or (decision != "propose" and accepted_before)

    async def look(partition: Partition) -> bool | None:
        # Another decision, seen late, changes the entity as well: lists must show this one, too.
        if all(edit.at != sequence for edit in await aliases.edits(partition)):
            return None
        if changes_graph and revision is not None:
            return True if await editor.revision(partition, target) != revision else None
        return True

    return EditResult(sequence, (target,), await editor.wait_until_visible(look))
