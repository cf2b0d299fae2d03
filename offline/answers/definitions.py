"""Which parts define what a question asks about: the entry that its key heads, or the sentence that
begins with the term.
"""

import re
from functools import lru_cache

from offline.answers.quotable_sentences import Quotable
from offline.answers.quotation import Candidate
from offline.answers.relevance import terms, versions, wanted_terms
from offline.language.headings import provision_number
from offline.language.languages import CHINESE
from offline.language.lines import is_field
from offline.language.meanings import meanings

DEFINES = 0.45
"""Bonus for the first part of the entry that a question asks for, and for a sentence that begins
with the term and says what it is.
"""

BELOW = 0.25
"""Bonus for the other parts of that entry, and for those of the section of a version or a provision
that a question names.
"""

_DEFINITION = re.compile(
    r"(?:how (?:does|do|did) .{2,40}? (?:define|describe|explain)|what(?:'s| is| are| was)?|"
    r"who (?:is|are)|define|explain|was (?:ist|sind|bedeutet|heißt|"
    r"macht|bewirkt|versteht man unter)|wer ist|wofür steht|что (?:такое|значит|означает)|"
    r"кто (?:такой|такая|такие)|qu'est-ce qu(?:e|'une?)|que signifie|qué (?:es|son|significa)|"
    r"quién es|(?:che )?cos(?:a |['’])(?:è|sono|significa|fa)|chi è)\b\s*",
    re.I,
)
_ADVERB = re.compile(
    r"^(?:(?:does|do|did|is|are|the|an?|term|word|option|setting|meaning of|der begriff|das wort|"
    r"die option|der|die|das|eine?[nr]?|слово|термин|un[ae]?|le mot|la|el|los|las|il|lo|gli)\s+)+",
    re.I,
)
_END = re.compile(
    r"(?:\s+(?:mean|means|stand for|do|does|defined|in this \w+|bedeuten))?\s*[?？.!]*$", re.I
)
_HAN_DEFINITION = re.compile(
    "^(?:什么是|何谓|何为)(.+?)[?？]*$|^(.+?)(?:是什么(?:意思)?|指的?是什么|的定义)[?？]*$"
)
_LONGEST = 200
"""Characters of a question that are read."""
_QUOTES = "\"'“”‘’«»„`‚‹›「」《》"
_IDENTIFIER = re.compile(
    r"--?\w[\w-]+|\b\w*(?:[a-z][A-Z]|_|\d[A-Za-z])\w*(?:=|\(\))?|\b[A-Z]{3,}\b"
)
_ALIASES = re.compile(r"\s*(?:,|/|\bor\b|\boder\b)\s*")
_ARGUMENT = re.compile(r"[=\[<({\s:].*$")
_ARTICLE = re.compile(r"^(?:the|an?|der|die|das|le|la|les|el|los|las) ", re.I)
_LONGEST_NAME = 4
"""Words of a name after the first of a key."""
_SECTION_WORDS = """
    article section clause paragraph version release change changed changes new say says
    state contain artikel abschnitt ziffer absatz ändern geändert änderte änderungen neu neues
    steht regelt
    artículo cambió cambia nuevo dice article change nouveau nouveautés dit prévoit
    статья статье пункт пункте версии изменилось нового новое сказано говорится
    条 变化 改变 新 规定 说
"""
"""Words of questions for what a section says."""
_DOCUMENT_WORDS = """
    document text file page article guide manual note report handbook
    Dokument Text Datei Seite Artikel Anleitung Handbuch Bericht
    texte fichier guide manuel rapport documento texto archivo página artículo guía
    документ текст файл страница статья 文件 文档 文章 页面 手册
"""
"""What a document may be called in a question about it."""
_LABEL_END = re.compile("[:：]")
_LINK = (
    r"\s*(?:[—–:=]|-\s|\(|，|：|是|指|"
    r"(?:is|are|means|was|ist|sind|bedeutet|это|est|es|son|è|sono|désigne)\b)"
)


def definition_bonus(question: str, candidate: Candidate, language: str) -> float:
    """Return what is added to the score of a part for defining what the question asks about."""
    key = candidate.part.key
    term = asked_term(question, language)
    if key and (_heads(key, term) or any(_heads(key, name) for name in _identifiers(question))):
        is_first = not candidate.place or candidate.parts[candidate.place - 1].key != key
        return DEFINES if is_first and term else BELOW
    if term and _begins_with(candidate.part.plain, term):
        return DEFINES
    if _is_asked_field(question, candidate.part.plain, language):
        return DEFINES
    if not _is_in_named_section(question, candidate.part):
        return 0.0
    return DEFINES if _asks_for_section(question, language) else BELOW


def _is_asked_field(question: str, text: str, language: str) -> bool:
    """Return whether a text gives the value of the field that a question asks for and that alone:
    `Author: Ann Mast` for "who wrote this".
    """
    if not is_field(text):
        return False
    wanted = wanted_terms(question, language) - terms(_DOCUMENT_WORDS, language)
    label = terms(_LABEL_END.split(text, maxsplit=1)[0], language)
    near = frozenset[str]().union(*(meanings(term, language) for term in label))
    return bool(wanted) and all(
        term in label or not near.isdisjoint(meanings(term, language)) for term in wanted
    )


@lru_cache(maxsize=1 << 8)
def _asks_for_section(question: str, language: str) -> bool:
    """Return whether a question asks for nothing but what a section says: `What is new in 2.1?`"""
    words = wanted_terms(question, language) - terms(_SECTION_WORDS, language)
    return not any(word.isalpha() for word in words)


def is_of_other_version(part: Quotable, question_versions: frozenset[str]) -> bool:
    """Return whether a part stands below the heading of a version, or is that heading, and the
    question is about another version.
    """
    above = versions(" ".join((*part.path, part.text if part.is_heading else "")))
    if not question_versions or not above:
        return False
    return not question_versions <= above | versions(part.plain)


def _is_in_named_section(question: str, part: Quotable) -> bool:
    """Return whether a part stands below the heading of the version or the provision that a
    question names.
    """
    if part.is_heading:
        return False
    numbers = {number.casefold() for number in map(provision_number, part.path) if number}
    return bool(versions(question) & versions(" ".join(part.path))) or any(
        re.search(rf"(?<!\w){re.escape(number)}(?!\w)", question.casefold()) for number in numbers
    )


@lru_cache(maxsize=1 << 8)
def asked_term(question: str, language: str) -> str:
    """Return the term whose meaning a question asks for, in lower case; empty if it asks for
    something else.
    """
    text = question.strip().lstrip("¿¡")[:_LONGEST]
    if language == CHINESE:
        match = _HAN_DEFINITION.match(text)
        return (match[1] or match[2]).strip(_QUOTES) if match else ""
    match = _DEFINITION.match(text)
    if match is None:
        return ""
    term = _END.sub("", _ADVERB.sub("", text[match.end() :])).strip(_QUOTES + " ")
    return term.lower() if 0 < len(term.split()) <= 4 else ""


@lru_cache(maxsize=1 << 8)
def _identifiers(question: str) -> frozenset[str]:
    """Return the names in a question that can be those of options and settings, in lower case."""
    return frozenset(name.lower() for name in _IDENTIFIER.findall(question))


@lru_cache(maxsize=1 << 12)
def _names(key: str) -> frozenset[str]:
    """Return the names that a key gives, in lower case: of `-k, --keep=FILE` -k and --keep."""
    aliases = _ALIASES.split(key.lower().replace("**", "").replace("`", ""))
    whole_names = [alias for alias in aliases if len(alias.split()) <= _LONGEST_NAME]
    short_names = [_ARGUMENT.sub("", alias) for alias in aliases if _is_short(alias)]
    bare_names = [name.rstrip("=") for name in (aliases[0], *whole_names, *short_names)]
    return frozenset(_ARTICLE.sub("", name.strip(_QUOTES + " .")) for name in bare_names if name)


def _is_short(alias: str) -> bool:
    """Return whether a name can have an argument after it, which is none of its words."""
    return alias.startswith("-") or " " not in alias.strip()


def _heads(key: str, term: str) -> bool:
    return bool(term) and _ARTICLE.sub("", term.rstrip("=()")) in _names(key)


@lru_cache(maxsize=1 << 8)
def _beginning(term: str) -> re.Pattern[str]:
    return re.compile(
        rf"[\W_\d]*(?:(?:an?|the|der|die|das|eine?) )?{re.escape(term)}[\W_]{{0,3}}?{_LINK}", re.I
    )


def _begins_with(text: str, term: str) -> bool:
    """Return whether a sentence begins with the term and goes on to say what it is."""
    return _beginning(term).match(text) is not None
