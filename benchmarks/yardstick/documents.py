"""Documents of about 600 tokens with many names, and questions about them, from the passages of two
multi-hop sets.

The sets are not part of this repository: the text is Wikipedia's under CC BY-SA 4.0 (HotpotQA) and
CC BY 4.0 (MuSiQue). YARDSTICK_DATA names a folder with `hotpotqa-train-100.json` and
`musique-train-100.json`, each of the form `{"passages": [{"title": …, "text": …}, …]}`;
benchmarks/README.md says where they come from.

Six passages make one document, which is one chunk with 20 to 40 entities and relations. The first N
documents are the same for every larger count. Past the end of the data the passages are dealt again
in another order, every capitalised name with a suffix, so that names go on being new.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count as counting
from itertools import islice
from pathlib import Path
from random import Random

VARIABLE = "YARDSTICK_DATA"
FILES = ("hotpotqa-train-100.json", "musique-train-100.json")
PASSAGES = 6
"""Of one document."""

SEED, QUESTION_SEED = 7, 11
FORMS = (
    "What is known about {}?",
    "Tell me about {}.",
    "How is {} connected to other people and places?",
    "When and where was {}?",
)
_NAME = re.compile(r"\b([A-Z][a-z]{2,})\b")


@dataclass(frozen=True)
class Document:
    """A text, the name of its file, and the titles of its passages."""

    name: str
    text: str
    titles: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question about one passage, which is found when a chunk with `title` in it is among those
    returned.
    """

    text: str
    document: str
    title: str


@dataclass(frozen=True)
class Passage:
    """A passage of the data."""

    title: str
    text: str


def documents(count: int) -> list[Document]:
    """The first `count` documents. Exits with what to do when the data are missing."""
    return list(islice(dealt(passages()), count))


def passages() -> list[Passage]:
    """All passages of the data. Exits with what to do when they are missing."""
    folder = Path(os.environ.get(VARIABLE, ""))
    missing = [name for name in FILES if not (folder / name).is_file()]
    if VARIABLE not in os.environ or missing:
        raise SystemExit(
            f"{VARIABLE} must name the folder with {' and '.join(FILES)}"
            f"{f' (missing in {folder}: ' + ', '.join(missing) + ')' if VARIABLE in os.environ else ''}: "
            "benchmarks/README.md says where they come from"
        )
    result = [json.loads((folder / name).read_text("utf-8"))["passages"] for name in FILES]
    return [Passage(each["title"], each["text"]) for part in result for each in part]


def dealt(base: Sequence[Passage]) -> Iterator[Document]:
    """Documents of these passages without end."""
    made = 0
    for turn in counting():
        deck = list(range(len(base)))
        Random(SEED + turn).shuffle(deck)
        for start in range(0, len(deck) - PASSAGES + 1, PASSAGES):
            chosen = [renamed(base[index], turn) for index in deck[start : start + PASSAGES]]
            text = "\n\n".join(f"{each.title}\n{each.text}" for each in chosen)
            yield Document(f"doc-{made:06d}.txt", text, tuple(each.title for each in chosen))
            made += 1


def renamed(passage: Passage, turn: int) -> Passage:
    """The passage with new names: other ones for each turn through the data, the old ones in the
    first.
    """
    if not turn:
        return passage
    mark = "aeiou"[turn % 5] + "bdfgklmnprstvz"[turn % 14]
    title, text = (
        _NAME.sub(lambda match: match[1] + mark, each) for each in (passage.title, passage.text)
    )
    return Passage(title, text)


def questions(of: Sequence[Document], count: int) -> list[Question]:
    """`count` distinct questions, spread evenly over the titles of these documents.

    Titles come back in another form of words when all have been asked for. Exits when no form is
    left.
    """
    asked = [(document.name, title) for document in of for title in dict.fromkeys(document.titles)]
    if count > len(asked) * len(FORMS):
        raise SystemExit(f"{count} different questions need more than {len(of)} documents")
    Random(QUESTION_SEED).shuffle(asked)
    made: list[Question] = []
    for number in range(count):
        turn, index = divmod(number, len(asked))
        name, title = asked[index]
        made.append(Question(FORMS[(index + turn) % len(FORMS)].format(title), name, title))
    return made
