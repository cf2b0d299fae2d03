"""Documents of about 50 tokens whose names follow Zipf's law, so that a few stand in very many.

Text of our own making, without data: for what a hub costs among very many small documents, not for
what a document of real text does. Of 100,000 documents the most frequent name stands in some
42,000, the fifth in 10,000. The first N documents are the same for every larger count.
"""

from collections.abc import Iterator
from itertools import accumulate, count, islice
from random import Random

from benchmarks.yardstick.documents import Document

SEED = 13
NAMES = 50_000
STEP = 20_011
"""Between the numbers of two names as frequent one after the other, which are then not alike; it
has no divisor in common with NAMES.
"""

SENTENCES = 3
"""Of one document, each with two names."""

FORMS = (
    "In spring {} sent a letter about grain and timber to {}.",
    "{} owed most of its income to the ferries that {} had built.",
    "A clerk of {} kept the accounts of {} for nine years.",
    "{} was founded near the bridge where {} met every autumn.",
    "When the river rose, {} lent boats and sacks to {}.",
    "{} printed the almanac for which {} paid in advance.",
)
FIRST_SYLLABLES = (
    "Ba",
    "De",
    "Fi",
    "Go",
    "Hu",
    "Ka",
    "Le",
    "Mi",
    "No",
    "Pu",
    "Ra",
    "Se",
    "Ti",
    "Vo",
)
NEXT_SYLLABLES = ("bal", "den", "fir", "gor", "hum", "kas", "lem", "min", "nov", "pul")


def short_documents(number: int) -> list[Document]:
    """The first `number` documents."""
    return list(islice(_drawn(), number))


def _drawn() -> Iterator[Document]:
    random = Random(SEED)
    ranks = range(NAMES)
    frequencies = list(accumulate(1 / (rank + 1) for rank in ranks))
    for position in count():
        chosen = [
            _name(rank) for rank in random.choices(ranks, cum_weights=frequencies, k=2 * SENTENCES)
        ]
        pairs = zip(random.sample(FORMS, SENTENCES), chosen[::2], chosen[1::2], strict=True)
        text = " ".join(form.format(*two) for form, *two in pairs)
        yield Document(f"short-{position:06d}.txt", text, tuple(dict.fromkeys(chosen)))


def _name(rank: int) -> str:
    """A name of two words for each rank, each another one."""
    number, end = divmod(rank * STEP % NAMES, len(NEXT_SYLLABLES))
    number, middle = divmod(number, len(NEXT_SYLLABLES))
    number, second = divmod(number, len(FIRST_SYLLABLES))
    given_end, given_beginning = divmod(number, len(FIRST_SYLLABLES))
    given = FIRST_SYLLABLES[given_beginning] + NEXT_SYLLABLES[given_end]
    return f"{given} {FIRST_SYLLABLES[second]}{NEXT_SYLLABLES[middle]}{NEXT_SYLLABLES[end]}"
