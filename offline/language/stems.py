"""Stems of English words, so that `founder` and `founded` count as one word.

There are two, each with a text that it was measured on: `stem` joins more words, for a walk that
looks for passages; `answer_stem` keeps more apart and knows irregular forms, for a sentence that is
quoted as the answer. The table of similar words is made with `stem`, so a change of it asks for
another table.
"""

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
    for ending in _ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= _SHORTEST_STEM:
            form = form[: -len(ending)]
            break
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
    for ending in _ANSWER_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ANSWER_STEM:
            return word[: -len(ending)]
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
