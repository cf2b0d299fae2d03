"""Stems of English words, so that `founder` and `founded` count as one word.

There are two, each with a text that it was measured on: `stem` joins more words, for a walk that
looks for passages; `answer_stem` keeps more apart and knows irregular forms, for a sentence that is
quoted as the answer. The table of similar words is made with `stem`, so a change of it asks for
another table.
"""

from collections.abc import Sequence
from functools import lru_cache

_ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ions",
    "ion",
    "ers",
    "er",
    "ors",
    "or",
    "ied",
    "ies",
    "ed",
    "es",
    "en",
    "e",
    "s",
    "y",
)

_SHORTEST_STEM = 3


@lru_cache(maxsize=1 << 16)
def stem(form: str) -> str:
    """Return a word without its English ending, roughly: `founder`, `founded` and `founding` become
    one.
    """
    if not form.isascii():
        return form
    form = _without_ending(form, _ENDINGS, _SHORTEST_STEM)
    return form[:-1] if len(form) > _SHORTEST_STEM + 1 and form[-1] == form[-2] else form


_ANSWER_ENDINGS = (
    "ations",
    "ation",
    "ating",
    "ated",
    "ates",
    "ments",
    "ment",
    "ions",
    "ion",
    "ings",
    "ing",
    "ors",
    "ers",
    "or",
    "er",
    "ies",
    "ied",
    "ed",
    "es",
    "s",
    "ly",
    "e",
    "y",
)
_SHORTEST_ANSWER_STEM = 4
_IRREGULAR = {
    form: verb
    for verb, *forms in (
        ("lead", "led"),
        ("leave", "left"),
        ("write", "wrote", "written"),
        ("build", "built"),
        ("sell", "sold"),
        ("hold", "held"),
        ("win", "won"),
        ("meet", "met"),
        ("pay", "paid"),
        ("run", "ran"),
        ("send", "sent"),
        ("spend", "spent"),
        ("lose", "lost"),
        ("buy", "bought"),
        ("bring", "brought"),
        ("teach", "taught"),
        ("catch", "caught"),
        ("think", "thought"),
        ("fight", "fought"),
        ("choose", "chose", "chosen"),
        ("begin", "began", "begun"),
        ("break", "broke", "broken"),
        ("drive", "drove", "driven"),
        ("fall", "fell", "fallen"),
        ("fly", "flew", "flown"),
        ("grow", "grew", "grown"),
        ("know", "knew", "known"),
        ("rise", "rose", "risen"),
        ("sing", "sang", "sung"),
        ("speak", "spoke", "spoken"),
        ("steal", "stole", "stolen"),
        ("swim", "swam"),
        ("throw", "threw", "thrown"),
        ("wear", "wore", "worn"),
        ("draw", "drew", "drawn"),
        ("eat", "ate", "eaten"),
        ("die", "died", "dying"),
        ("man", "men"),
        ("woman", "women"),
        ("child", "children"),
    )
    for form in forms
}
"""Frequent irregular forms."""


@lru_cache(maxsize=1 << 14)
def answer_stem(word: str) -> str:
    """Return a word in lower case without its ending, so that `contributes` and `contributed` are
    one term.
    """
    word = _IRREGULAR.get(word, word)
    if word.endswith("ss"):
        return word
    stem = _without_ending(word, _ANSWER_ENDINGS, _SHORTEST_ANSWER_STEM)
    if stem == word and len(word) > 3 and word.endswith("s"):
        return word[:-1]
    return stem


def _without_ending(word: str, endings: Sequence[str], shortest: int) -> str:
    """Return the word without the first of the endings that leaves so many letters."""
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            return word[: -len(ending)]
    return word
