"""A fictional world for questions of several hops: its documents, and questions whose passages are
known.

Everything is drawn by a seeded hand: things of eight kinds, named from syllables, and ties between
them. Each tie is said in one document only, in one of several wordings; a question says it in
wordings of its own, some with none of the document's words. Distractors are things like any other,
with names that share words with those that are asked about; no question needs their passages.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks import multihop_words as said

Needed = tuple[tuple[str, str], ...]


@dataclass
class Thing:
    """Something with a name, a kind, and ties by their names."""

    name: str
    kind: str
    ties: dict[str, "Thing"] = field(default_factory=dict)
    alias: str = ""
    word: str = ""
    """What is its own in its name."""
    file: str = ""
    sentences: dict[str, str] = field(default_factory=dict)
    """By tie, how its document says it."""


@dataclass(frozen=True)
class Document:
    """A file with its text."""

    name: str
    text: str


@dataclass(frozen=True)
class MultihopQuestion:
    """A question, and the files with the sentences in them without which it cannot be answered."""

    text: str
    needed: Needed
    hops: int
    variant: str


@dataclass(frozen=True)
class World:
    """Documents and what is asked about them."""

    documents: list[Document]
    questions: list[MultihopQuestion]


def world(seed: int, *, things: int, distractors: int, questions: int) -> World:
    """The world of a seed. More distractors leave the things, their documents and the questions as
    they are.
    """
    chance = random.Random(seed)
    names = _Names(chance)
    asked = _things(chance, names, things)
    for thing in asked:
        _tie(chance, thing, asked)
    documents = list(_documents(chance, asked, "a"))
    drawn = _questions(chance, asked, questions)
    other = random.Random(seed + 1)
    like = [_like(other, names, other.choice(asked)) for _ in range(distractors)]
    pool = [*like, *(thing for thing in asked if thing.kind in {"region", "river"})]
    for thing in like:
        _tie(other, thing, pool)
    documents += _documents(other, like, "b")
    other.shuffle(documents)
    return World(documents, drawn)


class _Names:
    """Names nobody has yet."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._taken = chance, set[str]()

    def word(self, syllables: int = 0) -> str:
        count = syllables or self._chance.choice((2, 2, 3))
        while True:
            parts = [
                self._chance.choice(said.ONSETS) + self._chance.choice(said.NUCLEI)
                for _ in range(count)
            ]
            word = ("".join(parts) + self._chance.choice(said.CODAS)).capitalize()
            if len(word) > 4 and self.free(word):
                return word

    def free(self, name: str) -> bool:
        if name in self._taken:
            return False
        self._taken.add(name)
        return True

    def of(self, kind: str, chance: random.Random, share: str = "") -> Thing:
        """A thing of a free name; with `share`, of one that has this word in it."""
        while True:
            word = share or self.word()
            name = chance.choice(said.FORMS[kind]).format(
                first=chance.choice(said.FIRST), w=word, noun=chance.choice(said.NOUNS)
            )
            if self.free(name):
                return Thing(name, kind, word=word)
            share = share if chance.random() < 0.9 else ""


def _things(chance: random.Random, names: _Names, count: int) -> list[Thing]:
    kinds = [kind for kind, share in said.SHARES.items() for _ in range(round(share * count))]
    result = [names.of(kind, chance) for kind in kinds]
    for thing in result:
        if thing.kind in said.ALIASES and chance.random() < 0.5:
            thing.alias = names.of("alias", chance).name
    return result


def _like(chance: random.Random, names: _Names, model: Thing) -> Thing:
    """A thing of the same kind, as a rule with a word of its name."""
    return names.of(model.kind, chance, share=model.word)


def _tie(chance: random.Random, thing: Thing, pool: Sequence[Thing]) -> None:
    for tie, (kind, _, _) in said.TIES[thing.kind].items():
        others = [other for other in pool if other.kind == kind and other is not thing]
        if others and chance.random() < 0.9:
            other = chance.choice(others)
            thing.ties[tie] = other
            thing.sentences[tie] = ""


def _documents(chance: random.Random, things: Sequence[Thing], mark: str) -> Iterator[Document]:
    """One for most things, with a title or without; the others together, several to a file."""
    mixed: list[Thing] = []
    for number, thing in enumerate(things):
        place = chance.random()
        text = _text(chance, thing) if place < 0.8 else ""
        if place < 0.45:
            thing.file = f"{thing.name}.md"
            yield Document(thing.file, f"# {thing.name}\n\n{text}")
        elif place < 0.8:
            thing.file = f"note-{mark}{number:05d}.txt"
            yield Document(thing.file, text)
        else:
            mixed.append(thing)
    for start in range(0, len(mixed), 4):
        some = mixed[start : start + 4]
        for thing in some:
            thing.file = f"almanac-{mark}{start:05d}.txt"
        yield Document(some[0].file, "\n\n".join(_text(chance, thing) for thing in some))


def _text(chance: random.Random, thing: Thing) -> str:
    kind = thing.kind
    alias = chance.choice(said.CALLED).format(alias=thing.alias) if thing.alias else ""
    first = chance.choice(said.OPENINGS[kind]).format(
        name=thing.name + alias, year=chance.randrange(1790, 1960)
    )
    lines = [first]
    ties = list(thing.ties.items())
    chance.shuffle(ties)
    for tie, other in ties:
        subject = chance.choice(
            (said.PRONOUN[kind], said.PRONOUN[kind], said.NOUN[kind], thing.name)
        )
        line = chance.choice(said.TIES[kind][tie][1]).format(x=other.name, s=subject)
        thing.sentences[tie] = line
        lines.append(line)
        if chance.random() < 0.5:
            lines.append(chance.choice(said.FILLERS))
    return " ".join(lines)


def _questions(
    chance: random.Random, things: Sequence[Thing], count: int
) -> list[MultihopQuestion]:
    result: dict[str, MultihopQuestion] = {}
    variants = ("plain", "plain", "lower", "typo", "alias")
    while len(result) < count:
        hops = (2, 3, 4)[len(result) % 3]
        variant = variants[len(result) % 5]
        start = chance.choice(
            [t for t in things if t.alias] if variant == "alias" else list(things)
        )
        pair = hops != 3 and chance.random() < 0.15
        made = (
            _pair(chance, things, start, hops // 2, variant)
            if pair
            else _chain(chance, start, hops, variant)
        )
        if made:
            result.setdefault(made.text, made)
    return list(result.values())


def _way(chance: random.Random, start: Thing, hops: int, last: str = "") -> list[str]:
    """Ties from the start on, none of them twice and no thing twice; empty where there is no such
    way.
    """
    ties: list[str] = []
    here, seen = start, {start.name}
    for hop in range(hops):
        ways = [t for t, other in here.ties.items() if other.name not in seen and t not in ties]
        if last and hop == hops - 1:
            ways = [t for t in ways if t == last]
        if not ways:
            return []
        ties.append(chance.choice(ways))
        here = here.ties[ties[-1]]
        seen.add(here.name)
    return ties


def _phrase(
    chance: random.Random, start: Thing, ties: Sequence[str], called: str
) -> tuple[str, Needed]:
    phrase, here, needed = called, start, []
    for tie in ties:
        needed.append((here.file, here.sentences[tie]))
        phrase = chance.choice(said.TIES[here.kind][tie][2]).format(x=phrase)
        here = here.ties[tie]
    return phrase, tuple(needed)


def _chain(chance: random.Random, start: Thing, hops: int, variant: str) -> MultihopQuestion | None:
    ties = _way(chance, start, hops)
    called = _called(chance, start, variant)
    if not ties or not called:
        return None
    phrase, needed = _phrase(chance, start, ties, called)
    text = chance.choice(said.ASKING).format(phrase=phrase)
    return MultihopQuestion(text.lower() if variant == "lower" else text, needed, hops, variant)


def _pair(
    chance: random.Random, things: Sequence[Thing], one: Thing, hops: int, variant: str
) -> MultihopQuestion | None:
    """Whether two ways end at the same thing."""
    ties = _way(chance, one, hops)
    called = _called(chance, one, variant)
    others = [t for t in things if t.kind == one.kind and t is not one and _leads(t, ties)]
    if not ties or not called or not others:
        return None
    other = chance.choice(others)
    left, needed = _phrase(chance, one, ties, called)
    right, also = _phrase(chance, other, ties, other.name)
    text = chance.choice(said.COMPARING).format(left=left, right=right)
    return MultihopQuestion(
        text.lower() if variant == "lower" else text, (*needed, *also), 2 * hops, variant
    )


def _leads(thing: Thing, ties: Sequence[str]) -> bool:
    for tie in ties:
        if tie not in thing.ties:
            return False
        thing = thing.ties[tie]
    return True


def _called(chance: random.Random, thing: Thing, variant: str) -> str:
    if variant == "alias":
        return f"the {thing.alias}" if thing.alias else ""
    return misspelt(chance, thing.name) if variant == "typo" else thing.name


def misspelt(chance: random.Random, name: str) -> str:
    """One letter left out, doubled or swapped with its neighbour, in the longest word; empty for
    short names.
    """
    word = max(name.split(), key=len)
    if len(word) < 6:
        return ""
    place = chance.randrange(1, len(word) - 2)
    slip = chance.choice(("out", "double", "swap"))
    if slip == "out":
        wrong = word[:place] + word[place + 1 :]
    elif slip == "double":
        wrong = word[:place] + word[place] + word[place:]
    else:
        wrong = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return name.replace(word, wrong) if wrong != word else ""
