"""In which languages passages are, and which of them the built-in embedding models know."""

from collections import Counter
from collections.abc import Iterable, Mapping

from offline.language.languages import ENGLISH, is_foreign, language_of
from offline.language.scripts import language_by_script

MULTILINGUAL = "multilingual"

KNOWN_LANGUAGES: Mapping[str, frozenset[str]] = {
    "minilm": frozenset({ENGLISH}),
    "minilm-floats": frozenset({ENGLISH}),
    MULTILINGUAL: frozenset(
        [
            "arabic",
            "chinese",
            "dutch",
            "english",
            "french",
            "german",
            "italian",
            "japanese",
            "korean",
            "polish",
            "portuguese",
            "russian",
            "spanish",
            "thai",
            "turkish",
        ]
    ),
}
"""By the value of EMBEDDING_MODEL. `lexical` compares words of any language; of models of a
provider nothing is known.
"""


def count_languages(texts: Iterable[str]) -> Counter[str]:
    """Return how many of the texts are in each language, by its script or its words of grammar;
    what has few of these, as tables and programs, counts as English.
    """
    return Counter(language_by_script(text) or _language_by_words(text) for text in texts)


def _language_by_words(text: str) -> str:
    return language_of(text) if is_foreign(text, ENGLISH) else ENGLISH


def unknown_language(languages: Mapping[str, int], model: str) -> str:
    """Return the language of most passages that a model, as EMBEDDING_MODEL names it, does not
    know; empty where it knows that of half of all, and of a model of which nothing is known.
    """
    known_languages = KNOWN_LANGUAGES.get(model)
    if known_languages is None:
        return ""
    unknown = {name: count for name, count in languages.items() if name not in known_languages}
    if 2 * sum(unknown.values()) <= sum(languages.values()):
        return ""
    return max(sorted(unknown), key=lambda name: unknown[name])


def model_that_knows(language: str) -> str:
    """Return the built-in model that knows a language beside English; empty where none does."""
    return MULTILINGUAL if language in KNOWN_LANGUAGES[MULTILINGUAL] else ""
