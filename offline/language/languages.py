"""Which language a text is in, and the stems and stop words of that language.

English has lists of its own (`stems`, `stop_words`), which were measured; the others are those of
Snowball and of the package `stop-words`. A language is added by a line in `_LANGUAGES`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import Any, Protocol, cast

import Stemmer
from stop_words import get_stop_words

from offline.language.german import without_infix
from offline.language.scripts import HAN, KANA
from offline.language.stems import answer_stem
from offline.language.stop_words import GRAMMAR_WORDS

ENGLISH = "english"
CHINESE = "chinese"
JAPANESE = "japanese"
GERMAN = "german"

_LANGUAGES: Sequence[str] = (
    "german",
    "french",
    "spanish",
    "italian",
    "portuguese",
    "dutch",
    "swedish",
    "danish",
    "norwegian",
    "finnish",
    "hungarian",
    "romanian",
    "turkish",
    "catalan",
    "polish",
    "czech",
    "russian",
    "greek",
    "arabic",
)
"""Languages that have stems and stop words, the more frequent first."""

_WORD = re.compile(r"[^\W\d_]+")
_TAG = re.compile(r"</?[a-z][^<>]*>")
_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile(f"[{KANA}]")
_READ = 400
"""Words that are read of a text to tell its language."""
_FEW_WORDS = 5
"""Words of grammar of another language that any text may have."""

CHINESE_GRAMMAR = re.compile(
    "什么时候|为什么|怎么办|怎么样|怎么|怎样|什么|多少|哪些|哪一|哪里|哪儿|哪个|哪|几个|是否|能否|可以|"
    "应该|必须|如果|但是|或者|以及|一个|有没有|[的了是在有和吗呢个会要能被把与及或也都不就还对从到为以于其这那它他她我你您们谁几吧啊呀着过给让]"
)
"""Words of grammar and of asking."""

_CODE = re.compile(r"(?<!\w)--?\w[\w-]*|\w*\d\w*")
"""The name of an option, or what has a digit: a word of no language."""

_TELLING = {"¿": "spanish", "¡": "spanish", "ß": "german"}
"""Marks that a single one of these languages has."""
_MARK = 3
"""Words of grammar that such a mark counts for: one in a long text may be of a name."""
_CHARACTERS = 0.1
"""Han characters and kana for each word from which a text is Chinese or Japanese, and kana for each
Han character from which it is Japanese: fewer are of a name, or lead to a translation.
"""

_lock = Lock()
"""A stemmer may be used by a single thread at a time."""


@lru_cache(maxsize=1 << 10)
def language_of(text: str) -> str:
    """Return the language whose words of grammar are most frequent in the text; English where
    nothing tells.
    """
    likely = _likely_languages(text)
    return ENGLISH if ENGLISH in likely else likely[0]


def language_among(question: str, texts: Sequence[str]) -> str:
    """Return the language of a short text; where words tell of several, as `was` does, the one of
    them that the first of the other texts is in that is in any of them.
    """
    likely = _likely_languages(_CODE.sub(" ", question))
    if len(likely) == 1:
        return likely[0]
    return next((lang for lang in map(language_of, texts) if lang in likely), language_of(question))


@lru_cache(maxsize=1 << 10)
def is_foreign(text: str, language: str) -> bool:
    """Return whether a text is in another language: it has many words of grammar of that, and
    hardly any of this one.
    """
    counts = _counts(text)
    most_frequent = max(counts.values(), default=0)
    return most_frequent > _FEW_WORDS + 2 * counts[language]


def _likely_languages(text: str) -> Sequence[str]:
    """Return the languages that have most words of grammar in the text, the more frequent first."""
    counts = _counts(text)
    most_frequent = max(counts.values(), default=0)
    return [
        language
        for language in (ENGLISH, *_LANGUAGES, CHINESE, JAPANESE)
        if counts[language] == most_frequent
    ]


def _counts(text: str) -> Counter[str]:
    """Return the words of grammar of each language; many kana or Han characters outweigh all
    words.
    """
    words = _WORD.findall(_TAG.sub(" ", text.lower()))
    kana_count, han_count = len(_KANA.findall(text)), len(_HAN.findall(text))
    if kana_count + han_count > _CHARACTERS * len(words):
        return Counter({JAPANESE if kana_count > _CHARACTERS * han_count else CHINESE: _READ})
    counts = Counter(
        language for word in words[:_READ] for language in _languages_by_word().get(word, ())
    )
    for character, language in _TELLING.items():
        counts[language] += _MARK * text.count(character)
    return counts


@cache
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for language in (ENGLISH, *_LANGUAGES):
        for word in stop_words(language):
            result[word] = (*result.get(word, ()), language)
    return result


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of grammar of a language, in lower case; none of an unknown one."""
    if language == ENGLISH:
        return GRAMMAR_WORDS
    if language not in _LANGUAGES:
        return frozenset()
    return frozenset([*get_stop_words(language), *_ADDED.get(language, "").split()])


_ADDED: Mapping[str, str] = {
    "german": (
        "wozu woraus womit wodurch wofür worin worauf worüber wovon wieviel wieviele viel viele "
        "wem wen passiert geschieht wurde wurden worden müsste darf dürfen durfte mag möchte lässt "
        "lassen gibt geben gilt gelten ab beim neben wegen falls sobald bevor obwohl schon mehr "
        "immer oft mal etwa ungefähr genau eigentlich bitte mindestens höchstens maximal dabei "
        "dafür daran darauf daraus davon vorhanden vorhandene existiert existieren"
    ),
    "french": "combien quoi peuvent doivent toute",
    "spanish": "cuánto cuánta cuántos cuántas cuál cuáles quiénes cuándo dónde adónde porqué debo",
    "italian": "quali quando",
    "portuguese": "quanto quanta quantos quantas quais porquê",
    "dutch": "hoeveel waar wanneer waarom welke welk wiens",
    "russian": (
        "сколько какой какая какое какие каков каком какого каких кто что где когда почему зачем "
        "ли откуда чей чья нужен нужна нужны должен должна должны ко обо свой"
    ),
}
"""Words of grammar and of asking that the package lacks."""


class _Stems(Protocol):
    def stemWord(self, word: str) -> str: ...  # the name in the library


@cache
def _stemmer(language: str) -> _Stems | None:
    if language not in _LANGUAGES:
        return None
    return cast("_Stems", cast(Any, Stemmer).Stemmer(language))


@lru_cache(maxsize=1 << 15)
def stem_in(language: str, word: str) -> str:
    """Return the stem of a word in lower case; the word itself in a language without stems."""
    stemmer = _stemmer(language)
    if stemmer is None:
        return word
    with _lock:
        return stemmer.stemWord(word.replace("ё", "е"))


def term_stem(language: str, word: str) -> str:
    """Return what forms of a word in lower case have in common where answers are looked for."""
    if language == ENGLISH:
        return answer_stem(word)
    stem = stem_in(language, word)
    return without_infix(stem) if language == GERMAN else stem
