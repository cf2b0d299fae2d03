"""Forms of German words that Snowball's stems keep apart: separable verbs, participles, compounds.

All of it works on stems: in lower case, without endings and without umlauts.
"""

import re

_PREFIXES = (
    "heraus|hinaus|hinein|herein|herunter|hinunter|zusammen|zurück|zuruck|weiter|vorbei|bereit|"
    "voraus|fest|fehl|frei|statt|teil|auf|aus|ein|vor|nach|bei|los|her|hin|weg|mit|um|an|ab|zu"
)
_SEPARATED = re.compile(rf"(?:{_PREFIXES})$")
_INFIX = re.compile(rf"({_PREFIXES})(ge|zu)(\w{{3,}})")
_CLAUSE = re.compile(r"[^.,;:!?()\n–—]+")
_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST_PART = 4
"""Letters of a stem that may be a part of a compound."""
_LINK = 2
"""Letters that may join the parts of a compound: `s`, `es`, `en`, `er`."""


def joined_verbs(text: str, stop_words: frozenset[str]) -> list[str]:
    """Return the verbs whose prefix ends their clause: of "zeigt den Stand an" it is `anzeigt`.

    The verb of a clause is taken to be its first word in small letters that is none of grammar.
    """
    verbs: list[str] = []
    for clause in _CLAUSE.findall(text):
        words = _WORD.findall(clause)
        if len(words) < 3 or _SEPARATED.fullmatch(words[-1]) is None:
            continue
        verb = next(
            (word for word in words[:-1] if word.islower() and word not in stop_words), None
        )
        if verb:
            verbs.append(words[-1] + verb)
    return verbs


def without_infix(stem: str) -> str:
    """Return the stem of a separable verb without `ge` or `zu` in it: `angezeigt` is `anzeig`."""
    match = _INFIX.fullmatch(stem)
    if match is None:
        return stem
    core = match[3]
    return match[1] + (core[:-1] if match[2] == "ge" and core.endswith("t") else core)


def is_related(stem: str, other_stem: str) -> bool:
    """Return whether a stem is the participle of the other, or one is a part of the other."""
    short_stem, long_stem = sorted((stem, other_stem), key=len)
    if len(short_stem) < _SHORTEST_PART - 1:
        return False
    if long_stem in (f"ge{short_stem}", f"ge{short_stem}t"):
        return True
    if len(short_stem) < _SHORTEST_PART:
        return False
    if long_stem.endswith(short_stem) or _begins(short_stem, long_stem):
        return True
    participle = _participle(short_stem)
    return bool(participle) and (_begins(participle, long_stem) or participle == long_stem)


def _begins(part: str, compound: str) -> bool:
    """Return whether a compound begins with a part and has another of so many letters."""
    return compound.startswith(part) and len(compound) >= len(part) + _SHORTEST_PART


def _participle(stem: str) -> str:
    """Return a participle without `ge` and its `t`; empty where too few letters are left."""
    if not stem.startswith("ge"):
        return ""
    core = stem[2:].removesuffix("t")
    return core if len(core) >= _SHORTEST_PART else ""
