"""Places in the log as callers of one workspace see them.

There is one log for all workspaces. Who saw its sequences could count what everybody else does in
between; so callers that are bound to workspaces see numbers that say nothing of order or distance,
and that mean nothing in another one.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from contracts.partitions import MAX_PARTITIONS, first_sequence, number_at, partition_at
from runtime.bus.event_summary import EventSummary
from services.query.errors import BadRequest

M = TypeVar("M", bound=BaseModel)

HALF = 26
"""Bits of one half of a number. Both are 52: with a bit in front that marks it, JavaScript reads it
exactly.
"""

MARK = 1 << (2 * HALF)
NUMBER_BITS = 40
"""Bits of what a place says of an event's number in its partition; the partition stands above."""

MOST = MAX_PARTITIONS << NUMBER_BITS
"""What a place says is below. So of numbers that nobody was given one in 16 is taken for a place:
hardly ever for one that the log has.
"""

ROUNDS = 8
"""Of the Feistel network that permutes the numbers."""

SEQUENCES = frozenset({"sequence", "from_sequence", "to_sequence", "undone_by", "undoes"})
"""Fields of events and answers that are sequences."""

_SENTENCE = re.compile(r"\b(sequence|at|by|before) (\d{1,16})\b")


@dataclass(frozen=True)
class Places:
    """Shows sequences to callers of a workspace, and reads what they were shown. Without a key it
    changes nothing.
    """

    workspace: str = ""
    key: bytes = b""

    @cached_property
    def _keys(self) -> list[bytes]:
        workspace_key = hashlib.blake2b(self.workspace.encode(), key=self.key[:64]).digest()
        return [
            hashlib.blake2b(bytes([number]), key=workspace_key, digest_size=32).digest()
            for number in range(ROUNDS)
        ]

    def shown(self, sequence: int) -> int:
        """Return the number that stands for a sequence; 0, where the log begins, stands for
        itself.
        """
        if not self.key or sequence <= 0:
            return sequence
        left_half, right_half = divmod(_packed(sequence), 1 << HALF)
        for key in self._keys:
            left_half, right_half = right_half, left_half ^ _scrambled(key, right_half)
        return MARK | left_half << HALF | right_half

    def sequence(self, place: int) -> int:
        """Return the sequence that a number stands for. Raises BadRequest for a number that none
        was shown as.
        """
        if not self.key or not place:
            return place
        if MARK <= place < 2 * MARK:
            left_half, right_half = divmod(place - MARK, 1 << HALF)
            for key in reversed(self._keys):
                left_half, right_half = right_half ^ _scrambled(key, left_half), left_half
            if (packed := left_half << HALF | right_half) < MOST:
                partition, number = divmod(packed, 1 << NUMBER_BITS)
                return first_sequence(partition) - 1 + number
        raise BadRequest(
            f"{place} is no place of this workspace: give 0, for the beginning, "
            "or a number that an answer had; sequences of older versions are not taken from "
            "credentials of single workspaces"
        )

    def shown_in(self, answer: M, *names: str) -> M:
        """Return the answer with all its sequences shown: the fields `SEQUENCES`, and those of
        these names.
        """
        if not self.key:
            return answer
        return type(answer).model_validate(
            self.shown_in_fields(answer.model_dump(), {*SEQUENCES, *names})
        )

    def shown_in_fields(self, fields: Any, names: Collection[str] = SEQUENCES) -> Any:
        """Return fields as JSON has them, with the sequences in them shown, however deep they
        stand.
        """
        if not self.key:
            return fields
        if isinstance(fields, dict):
            named_fields = cast("dict[str, Any]", fields)
            # What names a document's version has its time beside it.
            version_fields = {"version"} if "added_at" in named_fields else set[str]()
            return {
                name: self._shown_field(name, value, {*names, *version_fields})
                for name, value in named_fields.items()
            }
        if isinstance(fields, list | tuple):
            return [self.shown_in_fields(item, names) for item in cast("Sequence[Any]", fields)]
        return fields

    def _shown_field(self, name: str, value: Any, names: Collection[str]) -> Any:
        if name in names and isinstance(value, int):
            return self.shown(value)
        if name in names and isinstance(value, dict):  # a sequence before and after a change
            sides = cast("dict[str, Any]", value)
            return {
                side: self.shown(place) if isinstance(place, int) else place
                for side, place in sides.items()
            }
        return self.shown_in_fields(value, {*names} - {"version"})

    def shown_in_sentence(self, text: str) -> str:
        """Return a sentence of ours with the sequences in it shown."""
        if not self.key:
            return text
        return _SENTENCE.sub(lambda match: f"{match[1]} {self.shown(int(match[2]))}", text)


PLAIN = Places()
"""For callers who may see the whole deployment, and so its sequences."""


def shown_text(summary: EventSummary, places: Places) -> str:
    """Return the text of a summary: that of an edit may name the sequence of the one it takes
    back.
    """
    return places.shown_in_sentence(summary.text) if summary.type == "GraphEdited" else summary.text


def _packed(sequence: int) -> int:
    """Return a sequence in fewer bits: its partition, and its number there."""
    return partition_at(sequence) << NUMBER_BITS | number_at(sequence)


def _scrambled(key: bytes, half: int) -> int:
    digest = hashlib.blake2b(half.to_bytes(4, "big"), key=key, digest_size=4).digest()
    return int.from_bytes(digest, "big") & ((1 << HALF) - 1)
