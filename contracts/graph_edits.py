"""What people may do with the graph, and the values that they say."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from contracts.values import Value

GraphOperation = Literal[
    "create_entity",
    "edit_entity",
    "rename_entity",
    "merge_entities",
    "delete_entity",
    "create_relation",
    "edit_relation",
    "delete_relation",
    "propose_alias",
    "accept_alias",
    "reject_alias",
    "undo_alias",
    "undo_edit",
    "split_entity",
]

ALIAS_OPERATIONS = ("propose_alias", "accept_alias", "reject_alias", "undo_alias")
TARGETED_OPERATIONS = frozenset(
    {"rename_entity", "merge_entities", "split_entity", *ALIAS_OPERATIONS}
)
"""Operations that need a target; no other has one."""


def check_operation(operation: GraphOperation, names: Sequence[str], target: str | None) -> None:
    """Raise ValueError for names and a target that the operation cannot have."""
    if operation.endswith("relation") and (len(names) != 2 or names[0] == names[1]):
        raise ValueError(f"{operation} needs two different names")
    if operation.endswith("entity") and len(names) != 1:
        raise ValueError(f"{operation} needs one name")
    if operation != "undo_edit" and (operation in TARGETED_OPERATIONS) != (target is not None):
        raise ValueError(f"`target` belongs to {', '.join(sorted(TARGETED_OPERATIONS))}")
    if operation in ALIAS_OPERATIONS and target in names:
        raise ValueError("a name is no alias of itself")
    if operation == "split_entity" and target in names:
        raise ValueError("what is split off needs a name of its own")


class EditedValues(Value):
    """What a person says of an entity or relation; what is left out stays as the documents have
    it.
    """

    type: str | None = Field(default=None, min_length=1, max_length=256, description="of an entity")
    description: str | None = Field(default=None, max_length=50_000)
    keywords: tuple[str, ...] | None = Field(
        default=None, max_length=200, description="of a relation"
    )
    weight: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="of a relation"
    )
