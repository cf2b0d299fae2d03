"""What a command of ours would make MongoDB read, judged by the indexes that `prepare` makes.

The server of the tests looks up documents by `_id` alone and reads whole collections for all else,
whatever indexes it was told to make; and it explains nothing. So a command is judged by its form,
for a MongoDB that has our indexes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pymongo import monitoring

from runtime.stores.documents.port import INDEXES

BY_KEY = "documents by their keys"
RANGE = "a range of keys"
VALUES = "documents by an indexed value"
PARTITION = "a whole partition"
COLLECTION = "a whole collection"

_READS = (BY_KEY, RANGE, VALUES, PARTITION, COLLECTION)
"""From the least to the most."""

JUDGED = {"find", "aggregate", "update", "delete", "findAndModify", "count", "distinct"}

Command = Mapping[str, Any]


def reading(collection: str, condition: Command, order: Sequence[str] = ()) -> str:
    """Return which documents are read for a condition, sorted by `order`."""
    condition = _together(condition)
    if "$or" in condition:
        return max((reading(collection, one) for one in condition["$or"]), key=_READS.index)
    of_key = condition.get("_id")
    if of_key is not None:
        operators = _operators(of_key) or {"$in"}
        if "$in" in operators:
            return BY_KEY
        if operators & {"$lt", "$lte"} and operators & {"$gt", "$gte"}:
            return RANGE
    indexed = {f"fields.{field}" for field in INDEXES[collection]}
    if "space" not in condition or not indexed:
        return COLLECTION
    if any(name in indexed and _is_looked_up(value) for name, value in condition.items()):
        return VALUES
    return PARTITION if not order or order[0] in indexed else COLLECTION


def fault(name: str, command: Command) -> str:
    """Return what is wrong with a command; nothing when it reads what it is to read."""
    if name not in JUDGED:
        return ""
    collection = command[name]
    if name == "aggregate":
        return _of_counts(collection, command["pipeline"])
    if name == "find":
        if command.get("limit") == 1 and _leaps(command):
            return ""
        read = reading(collection, command["filter"], list(command.get("sort", ())))
        return f"{name} in {collection} reads {read}" if read == COLLECTION else ""
    changes = command.get("updates", command.get("deletes"))
    if changes is None:
        return f"{name} is judged by nothing"
    reads = {reading(collection, change["q"]) for change in changes}
    return f"{name} in {collection} reads {', '.join(reads)}" if reads - {BY_KEY} else ""


class Plans(monitoring.CommandListener):
    """Notes the faults of all commands that are sent from now on."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        monitoring.register(self)

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Judge a command; others than ours have tables that we do not know."""
        if event.command.get(event.command_name) in INDEXES:
            self.faults += filter(None, [fault(event.command_name, event.command)])

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None: ...

    def failed(self, event: monitoring.CommandFailedEvent) -> None: ...


def _together(condition: Command) -> dict[str, Any]:
    """Return the condition with those of `$and` beside its own; of two on one field both."""
    fields: dict[str, Any] = {}
    for part in (condition, *condition.get("$and", ())):
        for name, value in part.items():
            if name != "$and":
                is_double = _operators(fields.get(name)) and _operators(value)
                fields[name] = {**fields[name], **value} if is_double else fields.get(name, value)
    return fields


def _operators(value: Any) -> set[str]:
    """Return the operators of a condition on one field; none where it is the value itself."""
    return set(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else set()


def _is_looked_up(value: Any) -> bool:
    """Return whether an index is entered at the value: not where it is passed over."""
    operators = _operators(value)
    return not hasattr(value, "pattern") and (not operators or "$in" in operators)


def _leaps(command: Command) -> bool:
    """Return whether it is the first document at or behind a key."""
    return set(command["filter"]) == {"_id"} and list(command["sort"]) == ["_id"]


def _of_counts(collection: str, pipeline: Sequence[Command]) -> str:
    """A count reads documents by an indexed value, or the index of what it counts by alone."""
    match, group = pipeline[0]["$match"], pipeline[1]["$group"]
    condition = _together(match)
    by = group["_id"].removeprefix("$")
    if reading(collection, condition) == VALUES:
        return ""
    is_read = set(condition) - {"space", by} or "$exists" in _operators(condition.get(by))
    return f"a count of {collection} by {by} reads each document" if is_read else ""
