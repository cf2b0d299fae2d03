"""What a fictional encyclopedia is about: kinds of things, and how texts and questions word what is
said of them.

The subjects are the files of `multihop_subjects`. On clubs, expeditions and railways, which are
kept apart, nothing is chosen.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("multihop_subjects")


@dataclass(frozen=True)
class Tie:
    """A fact that joins a thing to another: `{s}` is the thing in the text, `{x}` the other one."""

    kind: str
    """Of the other thing."""
    texts: tuple[str, ...]
    phrases: tuple[str, ...]
    """How a question calls the other thing, `{x}` being the first."""
    asks: tuple[str, ...]
    """Whole questions for the other thing."""
    same: str = ""
    """Whether two things, `{a}` and `{b}`, have the same; empty if that is not asked."""


@dataclass(frozen=True)
class Fact:
    """A number that a text says of a thing: `{v}`."""

    texts: tuple[str, ...]
    asks: tuple[str, ...]
    values: range
    compares: str = ""
    """Which of two things, `{a}` and `{b}`, has less or more; empty if that is not asked."""


@dataclass(frozen=True)
class Kind:
    """A kind of things: their names, how they are introduced, and what is said of them."""

    share: int
    """How many of a hundred things are of this kind."""
    names: tuple[str, ...]
    """With `{w}` an invented word, `{first}` a first name, `{town}` the name of a town."""
    openings: tuple[str, ...]
    pronoun: str
    noun: str
    ties: Mapping[str, Tie] = field(default_factory=dict[str, Tie])
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    fillers: tuple[str, ...] = ()
    """Sentences that nothing is asked about; `{x}` is any thing of the same kind."""


def subject(name: str) -> dict[str, Kind]:
    """Return the kinds of a subject, by name."""
    read: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))["kinds"]
    return {kind: _kind(of) for kind, of in read.items()}


def _kind(of: dict[str, Any]) -> Kind:
    ties = {name: Tie(**tie) for name, tie in of.pop("ties", {}).items()}
    facts = {
        name: Fact(values=range(*fact.pop("values")), **fact)
        for name, fact in of.pop("facts", {}).items()
    }
    return Kind(ties=ties, facts=facts, **of)
