"""Fictional encyclopedias, whose questions of several hops have known passages: sets like those of
real text.

    python -m benchmarks.multihop_encyclopedia FOLDER [--subjects clubs,expeditions] [--passages
    400,2000] [--seed 1]

Writes a file for each, which `multihop.py --real FOLDER --sets clubs-400` and `multihop_http.py
FOLDER` take. Each passage is of one thing: its first sentence has the name, the others mostly "it",
"the club" or no subject at all. Chains of two and three passages, comparisons of two and of four. A
seed always gives the same set.
"""

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import multihop_words as sounds
from benchmarks.multihop_subject import Kind, Tie
from benchmarks.multihop_subject import subject as kinds_of

ASKED = {"2 hops": 70, "3 hops": 40, "compare 2": 20, "compare 4": 20}
"""How many questions of each sort a set has."""
HAS_TIE = 0.9
"""Share of the ties a kind may have that a thing has."""


@dataclass
class Thing:
    """Something with a passage: `ties` and `facts` by what they are called in its kind."""

    name: str
    kind: str
    number: int = 0
    ties: dict[str, "Thing"] = field(default_factory=lambda: dict[str, Thing]())
    facts: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Asked:
    """A question and the things whose passages it needs."""

    text: str
    needed: tuple[Thing, ...]
    sort: str


def encyclopedia(subject: str, passages: int, seed: int) -> dict[str, Any]:
    """Return a set of about so many passages, in the form of the files that `multihop_sets.load`
    reads.
    """
    kinds = kinds_of(subject)
    chance = random.Random(f"{subject} {passages} {seed}")
    things = _things(chance, kinds, passages)
    texts = [
        {"title": thing.name, "text": _text(chance, kinds[thing.kind], thing, things)}
        for thing in things
    ]
    questions = [
        {
            "id": f"{subject}-{number}",
            "question": asked.text,
            "hops": len(asked.needed),
            "type": asked.sort,
            "gold": [thing.number for thing in asked.needed],
        }
        for number, asked in enumerate(_questions(chance, kinds, things))
    ]
    return {"name": f"{subject}-{passages}", "passages": texts, "questions": questions}


def _things(chance: random.Random, kinds: Mapping[str, Kind], count: int) -> list[Thing]:
    """Return things in an order that says nothing, with what they are tied to."""
    taken, towns, things = (
        set[str](),
        [_word(chance) for _ in range(max(4, count // 12))],
        list[Thing](),
    )
    for kind, of in kinds.items():
        for _ in range(max(2, of.share * count // 100)):
            name = _name(chance, of, towns, taken)
            facts = {fact: chance.choice(told.values) for fact, told in of.facts.items()}
            things.append(Thing(name, kind, facts=facts))
    chance.shuffle(things)
    for number, thing in enumerate(things):
        thing.number = number
        for tie, told in kinds[thing.kind].ties.items():
            others = [other for other in things if other.kind == told.kind and other is not thing]
            if chance.random() < HAS_TIE:
                thing.ties[tie] = chance.choice(others)
    return things


def _name(chance: random.Random, kind: Kind, towns: Sequence[str], taken: set[str]) -> str:
    while True:
        form = chance.choice(kind.names)
        name = form.format(
            w=_word(chance), first=chance.choice(sounds.FIRST), town=chance.choice(towns)
        )
        if name not in taken:
            taken.add(name)
            return name


def _word(chance: random.Random) -> str:
    parts = [
        chance.choice(sounds.ONSETS) + chance.choice(sounds.NUCLEI)
        for _ in range(chance.choice((2, 2, 3)))
    ]
    return ("".join(parts) + chance.choice(sounds.CODAS)).capitalize()


def _text(chance: random.Random, kind: Kind, thing: Thing, things: Sequence[Thing]) -> str:
    first = chance.choice(kind.openings).format(name=thing.name, year=chance.randrange(1820, 1950))
    told = [
        (chance.choice(kind.ties[tie].texts), {"x": other.name})
        for tie, other in thing.ties.items()
    ]
    told += [
        (chance.choice(kind.facts[fact].texts), {"v": str(value)})
        for fact, value in thing.facts.items()
    ]
    like = [other for other in things if other.kind == thing.kind and other is not thing]
    told += [
        (filler, {"x": chance.choice(like).name})
        for filler in kind.fillers
        if chance.random() < 0.6
    ]
    chance.shuffle(told)
    lines = [first]
    for line, values in told:
        subject = chance.choice((kind.pronoun, kind.pronoun, kind.noun, thing.name))
        if not line.startswith("{s}"):
            subject = subject if subject == thing.name else subject.lower()
        lines.append(line.format(s=subject, **values))
    return " ".join(line[0].upper() + line[1:] for line in lines)


def _questions(
    chance: random.Random, kinds: Mapping[str, Kind], things: Sequence[Thing]
) -> list[Asked]:
    drawn: dict[str, Asked] = {}
    for sort, count in ASKED.items():
        made = 0
        while made < count:
            asked = _drawn(chance, kinds, things, sort)
            if asked and asked.text not in drawn:
                drawn[asked.text] = asked
                made += 1
    return list(drawn.values())


def _drawn(
    chance: random.Random, kinds: Mapping[str, Kind], things: Sequence[Thing], sort: str
) -> Asked | None:
    """Return a question of this sort about a thing that is drawn, None if the thing has no such
    one.
    """
    start = chance.choice(things)
    if sort in ("2 hops", "3 hops"):
        return _chain(chance, kinds, start, int(sort[0]))
    return _compared(chance, kinds, things, start, through=sort == "compare 4")


def _chain(
    chance: random.Random, kinds: Mapping[str, Kind], start: Thing, hops: int
) -> Asked | None:
    phrase, here, needed = start.name, start, [start]
    for _ in range(hops - 1):
        ways = [(tie, other) for tie, other in here.ties.items() if other not in needed]
        if not ways:
            return None
        tie, other = chance.choice(ways)
        phrase = chance.choice(kinds[here.kind].ties[tie].phrases).format(x=phrase)
        here = other
        needed.append(here)
    ends = [
        *(kinds[here.kind].ties[tie].asks for tie in here.ties),
        *(f.asks for f in kinds[here.kind].facts.values()),
    ]
    text = chance.choice(chance.choice(ends)).format(x=phrase)
    return Asked(_once(text), tuple(needed), f"{hops} hops")


def _compared(
    chance: random.Random,
    kinds: Mapping[str, Kind],
    things: Sequence[Thing],
    one: Thing,
    through: bool,
) -> Asked | None:
    """Return a question that compares two things, or `through` a tie that both have the two at its
    ends.
    """
    other = chance.choice(
        [thing for thing in things if thing.kind == one.kind and thing is not one]
    )
    a, b, needed = one.name, other.name, [one, other]
    if through:
        shared = [tie for tie in one.ties if tie in other.ties]
        if not shared:
            return None
        tie = chance.choice(shared)
        phrase = chance.choice(kinds[one.kind].ties[tie].phrases)
        a, b, one, other = phrase.format(x=a), phrase.format(x=b), one.ties[tie], other.ties[tie]
        needed += [one, other]
    asks = list(_comparisons(kinds[one.kind], one, other))
    if len({thing.number for thing in needed}) < len(needed) or not asks:
        return None
    return Asked(_once(chance.choice(asks).format(a=a, b=b)), tuple(needed), "comparison")


def _comparisons(kind: Kind, one: Thing, other: Thing) -> Iterator[str]:
    yield from (fact.compares for fact in kind.facts.values() if fact.compares)
    ties: Sequence[tuple[str, Tie]] = list(kind.ties.items())
    yield from (
        told.same for tie, told in ties if told.same and tie in one.ties and tie in other.ties
    )


def _once(text: str) -> str:
    """Return the text with one article where a phrase brought another."""
    return text.replace("the the ", "the ").replace("the The ", "the ").replace("The the ", "The ")


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--subjects", default="clubs,expeditions")
    parser.add_argument("--passages", default="400,2000")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for subject in given.subjects.split(","):
        for passages in map(int, given.passages.split(",")):
            made = encyclopedia(subject, passages, given.seed)
            path = given.folder / f"{made['name']}-train-100.json"
            path.write_text(json.dumps(made, indent=1), "utf-8")
            print(f"{path}: {len(made['passages'])} passages, {len(made['questions'])} questions")


if __name__ == "__main__":
    main()
