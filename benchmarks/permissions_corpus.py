"""The documents of `benchmarks.permissions`, as rows of the stores: each speaks of a person of its
own, of an office, a town and a country that others speak of, too.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from contracts.access import Access
from contracts.graph import Entity, Relation
from contracts.ids import chunk_id
from knowledge.contribution_rows import Row, chunk_hash, chunk_row, mention_prefix
from services.query.passage import Passage
from services.query.status.document_status import STEPS, DocumentStatus

OFFICES, TOWNS, COUNTRIES = 500, 50, 2
"""Hubs: each is in one of so many documents."""

MAX_SOURCES = 200


@dataclass
class Corpus:
    """Documents and what they say, as rows."""

    statuses: list[DocumentStatus] = field(default_factory=list[DocumentStatus])
    passages: list[Passage] = field(default_factory=list[Passage])
    contributions: dict[str, Row] = field(default_factory=dict[str, Row])
    mentions: dict[str, Row] = field(default_factory=dict[str, Row])
    supports: defaultdict[tuple[str, ...], list[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict[tuple[str, ...], list[tuple[str, str]]](list)
    )
    """Chunk and description, by the key that the chunk speaks of."""

    def add(self, place: int, access: Access | None) -> None:
        """Add a document of one chunk."""
        id = f"doc-{place:032x}"
        person, office, town, country = names_of(place)
        text = (
            f"{person} leads {office} since {1800 + place % 200}. {office} is in {town}. {town} is "
            f"in {country}."
        )
        chunk = chunk_id(id, 0)
        file_path = f"letter-{place}.md"
        status = DocumentStatus(
            id=id,
            file_path=file_path,
            version=place + 1,
            added=place + 1,
            chunk_count=1,
            bits=dict.fromkeys(STEPS, 1),
            access=access,
            access_set=place + 1 if access else 0,
        )
        self.statuses.append(status)
        self.passages.append(Passage(chunk, id, 0, text, file_path, version=place + 1))
        statements = {
            (person,): f"{person} leads {office}",
            (office,): f"{office} is led by {person}",
            (town,): f"{office} is in {town}",
            (country,): f"{town} is in {country}",
            tuple(sorted((person, office))): f"{person} leads {office}",
            tuple(sorted((office, town))): f"{office} is in {town}",
            tuple(sorted((town, country))): f"{town} is in {country}",
        }
        fields = {
            "chunk_id": chunk,
            "document_id": id,
            "order": 0,
            "version": place + 1,
            "added_at": place + 1,
            "file_path": file_path,
        }
        self.contributions[chunk_hash(chunk)] = chunk_row(
            fields, map(_statement, statements.items())
        )
        for key, description in statements.items():
            self.mentions[mention_prefix(key) + chunk_hash(chunk)] = {"chunk_id": chunk}
            self.supports[key].append((chunk, description))

    def entities(self) -> list[Entity]:
        """Return the entities, as folds of what the documents say."""
        return [
            Entity(key[0], 1, "other", _joined(supports), _chunks(supports), ("a",), len(supports))
            for key, supports in self.supports.items()
            if len(key) == 1
        ]

    def relations(self) -> list[Relation]:
        """Return the relations."""
        return [
            Relation(
                key[0],
                key[1],
                1,
                float(len(supports)),
                ("leads",),
                _joined(supports),
                _chunks(supports),
                ("a",),
                len(supports),
            )
            for key, supports in self.supports.items()
            if len(key) == 2
        ]


def names_of(place: int) -> tuple[str, str, str, str]:
    """Return the person, the office, the town and the country of a document."""
    hubs = f"Office {place % OFFICES}", f"Town {place % TOWNS}", f"Country {place % COUNTRIES}"
    return f"Person {place}", *hubs


def _statement(statement: tuple[tuple[str, ...], str]) -> Row:
    names, description = statement
    kind = "entity" if len(names) == 1 else "relation"
    return {
        "names": list(names),
        "description": description,
        "kind": kind,
        "type": "other",
        "keywords": [],
        "weight": 1.0,
    }


def _joined(supports: Sequence[tuple[str, str]]) -> str:
    return " ".join(dict.fromkeys(description for _, description in supports[:8]))


def _chunks(supports: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(chunk for chunk, _ in supports[:MAX_SOURCES])


def drawn_access(choice: random.Random, principals: int) -> Access | None:
    """Return who may see a document: two of five times everyone."""
    if choice.random() < 0.4:
        return None
    groups = choice.sample(range(principals), choice.randint(1, 5))
    return Access(allow=tuple(f"group:g{group}" for group in groups))
