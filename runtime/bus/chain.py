"""The hash chain of a workspace: one value that every event of it has changed, in the order of the
log.

`sha256` of a link is that of the link before and of the event's leaf (`runtime/bus/records.py`). An
erased event keeps its place by the leaf that its tombstone names, so an erasure leaves the chain as
it was.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from contracts.ids import sha256
from contracts.partitions import partition_at, partition_of
from contracts.subjects import QUESTIONS, workspace_token
from runtime.bus.records import Record

TOMBSTONE = b'"erased"'
"""Stands in every event that names erased ones."""


@dataclass(frozen=True)
class Link:
    """The chain of a workspace up to the event at `sequence`: its hash, and how many events it
    holds.
    """

    sequence: int = 0
    sha256: str = ""
    events: int = 0

    def followed_by(self, sequence: int, leaf: str) -> "Link":
        """Return the chain with one more event."""
        return Link(sequence, sha256(self.sha256 + leaf), self.events + 1)


def joint_hash(links: Mapping[str, Link]) -> str:
    """Return one hash over the chains of all workspaces."""
    joint = hashlib.sha256()
    for workspace, link in sorted(links.items()):
        joint.update(f"{workspace} {link.sha256}\n".encode())
    return joint.hexdigest()


def chain_of(token: str, sequence: int, count: int = 1) -> str:
    """Return the name of the chain that has an event with this first token of its subject, at this
    place of a log of `count` partitions.

    A workspace has one chain, and one more in each partition that it was moved to; what is about
    questions has one for each partition.
    """
    partition = partition_at(sequence)
    if token == QUESTIONS:
        return f"{token}-{partition}" if partition else token
    is_moved = count > 1 and partition != partition_of(token, count)
    return f"{token}.{partition}" if is_moved else token


def is_of_questions(chain: str) -> bool:
    """Return whether a chain has what is about questions."""
    return chain == QUESTIONS or chain.startswith(f"{QUESTIONS}-")


@dataclass(frozen=True)
class ErasedLeaf:
    """What stays of an erased event: its place, its leaf, and the name of the chain that has it."""

    sequence: int
    leaf: str
    chain: str


def erased_by(records: Sequence[Record], count: int = 1) -> Iterator[ErasedLeaf]:
    """Yield what stays of each event that one of these says was erased. `count`: partitions of the
    log, by which chains are named.
    """
    for record in records:
        own_token = workspace_token(record.subject)
        entries = body_of(record, TOMBSTONE).get("erased")
        for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
            match entry:
                case {"sequence": int() as sequence, "sha256": str() as leaf, **fields} if (
                    sequence < record.sequence
                ):
                    token = QUESTIONS if fields.get("is_apart") is True else own_token
                    yield ErasedLeaf(sequence, leaf, chain_of(token, sequence, count))
                case _:
                    pass


def body_of(record: Record, marker: bytes) -> dict[str, Any]:
    """Return the data of an event that may have a field written so; empty for any other message."""
    if marker not in record.data:
        return {}
    try:
        event = orjson.loads(record.data)
    except ValueError:
        return {}
    body: Any = cast("dict[str, Any]", event).get("data") if isinstance(event, dict) else None
    return cast("dict[str, Any]", body) if isinstance(body, dict) else {}
