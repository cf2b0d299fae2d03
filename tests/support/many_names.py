"""Documents with many names, as real ones have: about 600 tokens, some 25 entities, few of which
come back.
"""

from random import Random

PASSAGES = 6
SENTENCES = 4
HUBS = ("United Harbour League", "Port Elm", "Great Northern Railway")
"""Named in about every third passage."""

_STARTS = (
    "Bel",
    "Cor",
    "Dan",
    "Fel",
    "Gar",
    "Hol",
    "Jor",
    "Kel",
    "Lam",
    "Mor",
    "Nes",
    "Or",
    "Pel",
    "Rud",
    "Sil",
    "Tam",
)
_ENDS = ("wick", "ton", "mere", "ford", "ley", "stow", "den", "by", "holm", "gate", "worth", "sund")
_DEEDS = (
    "was born in {1} and studied architecture under {2} before the railway reached the coast",
    "wrote a novel about {1}, which the critics of {2} compared with older chronicles",
    "founded a company with {1} that supplied the shipyards of {2} with timber and copper",
    "played ten seasons for {1} and later became the coach of {2}, a club in the northern province",
    "recorded an album in {1}; the title song was written by {2} during the winter tour",
    "crossed the river at {1} with the regiment of {2} and held the bridge until morning",
)


def documents(count: int) -> dict[str, str]:
    """The first `count` texts by file name."""
    return {f"names-{number:05d}.txt": document(number) for number in range(count)}


def document(number: int) -> str:
    """One text of six passages, each below its title."""
    dice = Random(f"many names {number}")
    return "\n\n".join(passage(dice) for _ in range(PASSAGES))


def passage(dice: Random) -> str:
    """A title, and what is said of it: each sentence names two others."""
    title = name(dice)
    others = [name(dice) for _ in range(3)] + ([dice.choice(HUBS)] if dice.random() < 0.3 else [])
    lines = [
        f"{title} {deed.format('', *dice.sample(others, 2))}."
        for deed in dice.sample(_DEEDS, SENTENCES)
    ]
    return f"{title}\n{' '.join(lines)}"


def name(dice: Random) -> str:
    """A name of two words; one in about 37,000."""
    return " ".join(dice.choice(_STARTS) + dice.choice(_ENDS) for _ in range(2))
