"""Links a question or a passage to the entities it names: longest match first, then by surname and
by spelling.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from offline.language.normal_forms import Word, normal_form, words
from services.query.retrieval.name_index import NameIndex

LinkMethod = Literal["name", "surname", "spelling", "title"]

MAX_MISSPELT_WORDS = 5
"""Longest span of a question, in words, that is corrected."""
MAX_CORRECTED = 64
"""Words of a question, the first that are part of no name, whose spelling is corrected."""
MAX_FORMS = 128
"""Spans of a question that are looked up beyond the index at most, the first ones."""

_SEVERAL_WORDS = range(MAX_MISSPELT_WORDS, 1, -1)
_QUALIFIER = re.compile(r"\s*\(([^()]*)\)")


@dataclass(frozen=True)
class Link:
    """A span of the text with the names of the entities that it may mean, and how they were
    found.
    """

    text: str
    start: int
    end: int
    names: tuple[str, ...]
    method: LinkMethod
    qualifier: str = ""
    """What stands in brackets right after the name, as in "Blue Harbour (1931 film)"; the span
    includes it.
    """
    passages: tuple[int, ...] = ()
    """Of a title that is no name of an entity: numbers of the passages that open with it."""
    small: bool = False
    """Of several words: whether none has a capital in a question that has some, as in "the reign of
    terror".
    """


def link_entities(question: str, index: NameIndex) -> list[Link]:
    """Return the links of a question in the order of the text; links never overlap.

    Exact names have priority, then misspelt names of several words, then surnames, then single
    misspelt words.
    """
    question_words = words(question)
    # A year has no case: it does not make a question in lower case one that writes its names with
    # capitals.
    has_case = any(
        question[word.start].isupper() and not word.is_stopword for word in question_words[1:]
    )
    links = list(_exact_links(question, question_words, index, has_case))
    longer_links = [
        _longer_misspelt(question, question_words, links, link, index, has_case)
        for link in links[:MAX_CORRECTED]
    ]
    links = [longer_link or link for longer_link, link in zip_longest(longer_links, links)]
    links += _spelling_links(
        question, _runs(question_words, links), index, has_case, _SEVERAL_WORDS
    )
    for word in _unlinked(question_words, links):
        if _may_name([word], has_case) and (names := index.by_surname(word.form)):
            links.append(_link(question, [word], names, "surname"))
    links += _spelling_links(question, _runs(question_words, links), index, has_case, (1,))
    return _with_qualifiers(question, sorted(links, key=lambda link: link.start))


def _with_qualifiers(question: str, links: Iterable[Link]) -> list[Link]:
    """Return links that include what stands in brackets right after them, without the links in
    there.
    """
    qualified_links: list[Link] = []
    for link in links:
        if qualified_links and link.start < qualified_links[-1].end:
            continue
        if match := _QUALIFIER.match(question, link.end):
            link = replace(
                link, text=question[link.start : match.end()], end=match.end(), qualifier=match[1]
            )
        qualified_links.append(link)
    return qualified_links


def _longer_misspelt(
    question: str,
    question_words: Sequence[Word],
    links: Sequence[Link],
    link: Link,
    index: NameIndex,
    has_case: bool,
) -> Link | None:
    """Return the link of a misspelt longer name of which this link is one word, as a first name
    that is a name itself.

    The words beside it must be unlinked, and only they may be misspelt.
    """
    unlinked_starts = {
        word.start
        for word in _unlinked(
            question_words, [other_link for other_link in links if other_link is not link]
        )
    }
    place = next(number for number, word in enumerate(question_words) if word.start == link.start)
    word = question_words[place]
    if word.end != link.end:
        return None
    for length in _SEVERAL_WORDS:
        for first in range(
            max(0, place - length + 1), min(place, len(question_words) - length) + 1
        ):
            part = question_words[first : first + length]
            if not all(
                beside.start in unlinked_starts and _may_name([beside], has_case) for beside in part
            ):
                continue
            form = normal_form(part)
            names = index.by_spelling(form, len(form) - len(word.form) - length + 1)
            if names and all(word.form in normal_form(words(name)) for name in names):
                return _link(question, part, names, "spelling")
    return None


def _exact_links(
    question: str, question_words: Sequence[Word], index: NameIndex, has_case: bool
) -> Iterator[Link]:
    position = 0
    while position < len(question_words):
        for length in range(
            min(index.max_words(question_words[position].form), len(question_words) - position),
            0,
            -1,
        ):
            part = question_words[position : position + length]
            is_small = not _may_name(part, has_case)
            names = () if is_small and not _is_long(part) else index.by_name(normal_form(part))
            if names:
                yield replace(_link(question, part, names, "name"), small=is_small)
                position += length
                break
        else:
            position += 1


def _unlinked(question_words: Sequence[Word], links: Iterable[Link]) -> list[Word]:
    covered_spans = sorted((link.start, link.end) for link in links)
    starts = [start for start, _ in covered_spans]
    return [
        word
        for word in question_words
        if not (place := bisect_right(starts, word.start))
        or word.start >= covered_spans[place - 1][1]
    ]


def _runs(question_words: Sequence[Word], links: Sequence[Link]) -> list[list[Word]]:
    """Return the first `MAX_CORRECTED` unlinked words of the question, grouped into runs of
    adjacent words.
    """
    runs: list[list[Word]] = [[]]
    unlinked_starts = {word.start for word in _unlinked(question_words, links)[:MAX_CORRECTED]}
    for word in question_words:
        if word.start in unlinked_starts:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return runs


def _spelling_links(
    question: str,
    runs: Sequence[Sequence[Word]],
    index: NameIndex,
    has_case: bool,
    lengths: Iterable[int],
) -> Iterator[Link]:
    """Yield links for spans of so many words that are spelt like a name, in the order of the
    lengths.
    """
    linked_starts: set[int] = set()
    for length in lengths:
        for part in [
            run[start : start + length] for run in runs for start in range(len(run) - length + 1)
        ]:
            if part[0].is_stopword or part[-1].is_stopword or not _may_name(part, has_case):
                continue
            if linked_starts.isdisjoint(word.start for word in part) and (
                names := index.by_spelling(normal_form(part))
            ):
                linked_starts |= {word.start for word in part}
                yield _link(question, part, names, "spelling")


def _may_name(part: Sequence[Word], has_case: bool) -> bool:
    """Return whether the words may be a name: not if the question capitalises names and none of
    these words is.
    """
    return any(not word.is_stopword for word in part) and (
        not has_case or any(word.is_capitalised for word in part)
    )


def _is_long(part: Sequence[Word]) -> bool:
    """Return whether the words say enough to be a name without capitals: two of them are no
    stopwords.
    """
    return sum(not word.is_stopword for word in part) > 1


def _link(question: str, part: Sequence[Word], names: tuple[str, ...], method: LinkMethod) -> Link:
    start = part[0].start
    end = part[-1].end
    return Link(question[start:end], start, end, names, method)


def unlinked_forms(question: str, links: Sequence[Link], longest: int = 5) -> list[str]:
    """Return further spans of at most `longest` words that may be names, as written, for a lookup
    beyond the index.
    """
    unlinked_words = _unlinked(words(question), links)
    forms: dict[str, None] = {}
    for start, word in enumerate(unlinked_words):
        for last_word in unlinked_words[start : start + longest]:
            text = question[word.start : last_word.end]
            if (
                not word.is_stopword
                and not last_word.is_stopword
                and (word.is_capitalised or last_word.is_capitalised)
            ):
                forms.setdefault(text)
        if len(forms) >= MAX_FORMS:
            break
    return list(forms)[:MAX_FORMS]
