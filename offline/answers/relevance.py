"""How well sentences fit a question, by their words and by the kind of answer it asks for."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from contracts.spelling import one_spelling
from offline.language import german
from offline.language.languages import (
    CHINESE,
    CHINESE_GRAMMAR,
    ENGLISH,
    GERMAN,
    JAPANESE,
    stem_in,
    stop_words,
    term_stem,
)
from offline.language.meanings import is_light, meanings
from offline.language.scripts import HAN

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(f"[{HAN}]")
FEW = 200
"""So many sentences are assumed at least: fewer tell too little of how rare a word is."""

_ALONE = re.compile(r"(?<![\w(.,])(?:\d{3,}|\d{1,2}(?!\.\s))(?![\w)]|[.,]\d)")
_AMOUNT = re.compile(
    r"(?<![\w.,§-])(\d{1,3})(?:[.,]\d+)?[ \u00a0-]?([€$£¥%°]|[^\W\d_]+)", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?:versi\w+|верси\w+|release|sec\w+|abschnitt|раздел\w*|chapter|kapitel|chapitre|cap\w+|"
    r"глав\w+|art\w+|стать\w+|пункт\w*|clause|ziffer|absatz|paragra\w+|step|schritt|étape|paso|"
    r"шаг\w*|page|seite|página|страниц\w+|part\w?|teil|част\w+|level|stufe|niv\w+|уров\w+|"
    r"class\w?|klasse|clase|класс\w*|room|raum|zimmer|salle|sala|error|fehler|erreur|ошибк\w+|code|"
    r"lin\w+|ligne|línea|n[or]|num\w+|núm\w+|номер\w*|tab\w+|figure|type?|option|phase|"
    r"group\w?|gruppe|route|gate|第)\W*$",
    re.IGNORECASE,
)
"""What stands before a number that names a thing, as `version 2`."""
_VERSION = re.compile(r"(?<![\w.])(?:v(?=\d))?(\d+(?:\.\d+){2,})(?![\w.]*\w)", re.I)
RELATED = 0.6
NEAR = 0.6
"""Shares of a wanted term that another form of it has, and another word of about its meaning."""
LIGHT = 0.5
"""Weight of a wanted term that says little, as `need`."""
ELSEWHERE = 0.2
"""What a sentence loses for the terms that other passages have and its own lacks, times their
share.
"""
_SHORTEST_STEM = 3
_LONGEST_REST = 2
"""Letters of an ending that a stemmer may have left."""
_SHORTEST_RELATED = 5
"""Letters of a term that others may have in them: `speicher` in `speicherbedarf`."""

_IDENTIFIER = re.compile(r"(?<!\w)(?:--)?([^\W_]+(?:[_-][^\W_]+)*)(?!\w)")
_SEPARATOR = r"\\?[_ -]"
"""What finds the sign between two words of an identifier, escaped in Markdown or not."""

_UNUSUAL_NAME = re.compile(r"\b\w*(?:\d|[a-zß-ÿ][A-ZÀ-Þ]|[A-Z]{2}|_)\w*")
_SOURCE = re.compile(
    r"\bhow (?:does|do|did) [\w .'’-]{2,40}? (?=define|describe|explain|call|understand)|"
    r"\baccording to (?:[A-Z][\w.'’-]* ?){1,4}|"
    r"\b(?:laut|nach Ansicht von) (?:[A-Z][\w.'’-]* ?){1,3}",
    re.I,
)
"""The part of a question that names who says it."""
_SMALL = re.compile(r"\b[a-z]{2}")
_NAME = re.compile(r"(?<!^)(?<![a-z]{2}[.!?] )\b[A-Z]\w+")
_THING = re.compile(
    r"(?:APIs?|ATMs?|CDs?|CPUs?|CSV|CV|DIY|DVDs?|EUR|FAQs?|GB|GPS|GPUs?|HTML|IDs?|IPs?|ISP|IT|JPEGs?|"
    r"JSON|KB|LAN|LEDs?|MB|NGO|OK|OS|PCs?|PDFs?|PIN|PNG|RAM|SIM|SMS|SQL|SSD|TB|TVs?|UI|URLs?|USB|USD|"
    r"VAT|VMs?|VPN|XML|YAML|ZIP)"
)
"""Abbreviations that are words for things like others, and name nothing of one's own."""
_OPENING = "¿¡\"'“‘«„ "
"""Marks before the first word of a question."""


@lru_cache(maxsize=1 << 14)
def terms(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the words except stopwords; Han characters one by one and in pairs."""
    unimportant_words = stop_words(language)
    result: set[str] = set()
    for word in _WORD.findall(one_spelling(text).lower()):
        if _HAN.search(word):
            result.update(_han_terms(word))
        elif word not in unimportant_words:
            result.add(term_stem(language, word))
    if language == GERMAN:
        joined = german.joined_verbs(text, unimportant_words)
        result.update(term_stem(language, verb.lower()) for verb in joined)
    return frozenset(result)


def _han_terms(word: str) -> Iterator[str]:
    """Yield the characters and the pairs of neighbours, without those that carry grammar."""
    for run in CHINESE_GRAMMAR.split(word):
        yield from run
        yield from (first + second for first, second in pairwise(run))


_ASKING_TERMS = terms("mean meaning define definition happen explain describe stand") | frozenset(
    stem_in(language, word)
    for language, words in (
        (GERMAN, "bedeutet heißt passiert geschieht erklären beschreiben"),
        ("russian", "значит означает называется происходит будет"),
        ("french", "signifie veut dire appelle passe"),
        ("spanish", "significa llama pasa ocurre"),
    )
    for word in words.split()
)
"""Terms of words that only ask."""


@lru_cache(maxsize=1 << 10)
def wanted_terms(question: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the terms of a question, without the words that only ask and without its source; all
    where nothing is left.
    """
    question_terms = terms(_SOURCE.sub(" ", question), language)
    return (question_terms - _ASKING_TERMS) or question_terms


@lru_cache(maxsize=1 << 10)
def names(question: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the terms of the names in a question: of words with a capital but the first one of a
    sentence, and abbreviations such as PC.

    None where every word has one, as in a title. In German, where every noun has one, only words
    with a digit or with a capital inside count. A name that the question gives as the source, as in
    "How does Bierce define love?", is none: texts seldom name their authors.
    """
    return terms(" ".join(name_words(question, language)), language)


def name_words(question: str, language: str) -> list[str]:
    """Return the words of the names in a question: see `names`."""
    if not _SMALL.search(question):
        return []
    pattern = _UNUSUAL_NAME if language == GERMAN else _NAME
    words = pattern.findall(_SOURCE.sub(" ", question).lstrip(_OPENING))
    return [word for word in words if not _THING.fullmatch(word)]


@lru_cache(maxsize=1 << 10)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers that stand alone in a text; `(1)` and `1.` before an item number that item
    only.
    """
    return frozenset(_ALONE.findall(text))


def amounts(question: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the numbers by which a question tells a case of its own, as in "my son is 12 years
    old" or "40 dollars": the answer has a limit, which is another number.
    """
    unimportant_words = stop_words(language)
    return frozenset(
        match[1]
        for match in _AMOUNT.finditer(question)
        if match[2].lower() not in unimportant_words
        and not _NAMED.search(question, 0, match.start())
    )


def versions(text: str) -> frozenset[str]:
    """Return the numbers of versions in a text, as 5.4.1."""
    return frozenset(_VERSION.findall(text))


@lru_cache(maxsize=1 << 10)
def identifiers(question: str) -> tuple[re.Pattern[str], ...]:
    """Return what finds each identifier of a question, as MAX_SIZE or --dry-run: its words stand
    together, in any case, with `_`, `-` or a blank between them.
    """
    joined_words = (
        match[1] for match in _IDENTIFIER.finditer(question) if "_" in match[1] or "--" in match[0]
    )
    return tuple(
        re.compile(rf"(?<![^\W_]){_SEPARATOR.join(re.split('[_-]', words))}(?![^\W_])", re.I)
        for words in joined_words
    )


@dataclass(frozen=True, slots=True)
class SentenceTerms:
    """The terms of a sentence, and those of what stands around it, which count half."""

    own: frozenset[str]
    """Of the sentence and of the key that heads it."""
    around: frozenset[str]
    passage: int = 0
    """Number of the passage that it stands in."""


def lexical_scores(
    question_terms: frozenset[str], sentences: Sequence[SentenceTerms], language: str = ENGLISH
) -> list[float]:
    """Return for each sentence the share of the wanted terms in it, up to 1; rare terms have a
    greater weight.

    A term that is only related to one in the sentence, as `memory` is to `memories`, counts
    `RELATED`, one of about its meaning `NEAR`. The share of terms that other passages have and the
    sentence's own lacks counts against it: it speaks of something else.
    """
    relatives = _relatives(question_terms, sentences, language)
    inside = [_shares(sentence.own, relatives) for sentence in sentences]
    around = [_shares(sentence.around, relatives) for sentence in sentences]
    weight = _weights(question_terms, (*inside, *around), len(sentences), language)
    total = sum(weight.values()) or 1.0
    in_passage: dict[int, set[str]] = {}
    for sentence, *shares in zip(sentences, inside, around, strict=True):
        in_passage.setdefault(sentence.passage, set()).update(*shares)
    in_any = set[str]().union(*in_passage.values())
    elsewhere = {
        passage: sum(weight[term] for term in weight if term in in_any - terms_there)
        for passage, terms_there in in_passage.items()
    }
    return [
        (
            sum(
                weight[term] * max(own_shares.get(term, 0.0), context_shares.get(term, 0.0) / 2)
                for term in weight
            )
            - ELSEWHERE * elsewhere[sentence.passage]
        )
        / total
        for sentence, own_shares, context_shares in zip(sentences, inside, around, strict=True)
    ]


def _weights(
    question_terms: frozenset[str],
    shares: Iterable[Mapping[str, float]],
    sentence_count: int,
    language: str,
) -> dict[str, float]:
    """Return how much each wanted term counts: the more, the rarer it is, and less if it says
    little.
    """
    frequency = Counter(chain.from_iterable(shares))
    return {
        term: math.log(1 + max(FEW, sentence_count) / (1 + frequency[term]))
        * (LIGHT if is_light(term, language) else 1.0)
        for term in sorted(question_terms)  # sums of floating-point numbers depend on the order
    }


def _shares(
    sentence: frozenset[str], relatives: Mapping[str, Sequence[tuple[str, float]]]
) -> dict[str, float]:
    """Return how far a sentence has each of the wanted terms that it has at all."""
    result: dict[str, float] = {}
    for term in sentence & relatives.keys():
        for wanted_term, share in relatives[term]:
            result[wanted_term] = max(share, result.get(wanted_term, 0.0))
    return result


def _relatives(
    question_terms: frozenset[str], sentences: Sequence[SentenceTerms], language: str
) -> dict[str, list[tuple[str, float]]]:
    """Return for each term of the sentences the wanted terms that it is or is related to."""
    vocabulary = {term for sentence in sentences for term in sentence.own | sentence.around}
    result: dict[str, list[tuple[str, float]]] = {term: [(term, 1.0)] for term in question_terms}
    for word in question_terms:
        word_meanings = meanings(word, language)
        for term in vocabulary:
            if term == word:
                continue
            if _is_related(word, term, language):
                result.setdefault(term, []).append((word, RELATED))
            elif word_meanings and not word_meanings.isdisjoint(meanings(term, language)):
                result.setdefault(term, []).append((word, NEAR))
    return result


def _is_related(word: str, term: str, language: str) -> bool:
    """Return whether a term of a sentence says in another form what a word of the question says."""
    if len(word) >= _SHORTEST_RELATED:
        beginning = word[: max(_SHORTEST_RELATED, len(word) - 2)]
        if beginning in term or (len(term) >= _SHORTEST_RELATED and term in word):
            return True
    if language == GERMAN:
        return german.is_related(word, term)
    return language not in (ENGLISH, CHINESE, JAPANESE) and _is_short_form(word, term)


def _is_short_form(word: str, term: str) -> bool:
    """Return whether short stems are those of one word: `муз` of музей, `музе` of музея."""
    shorter, longer = sorted((word, term), key=len)
    return len(shorter) >= _SHORTEST_STEM and (
        longer.startswith(shorter) and len(longer) - len(shorter) <= _LONGEST_REST
    )
