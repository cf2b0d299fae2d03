"""An answer without a language model: the sentences of the passages that answer the question, the
best first.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from offline.answers.quotable_sentences import Quotable
from offline.answers.relevance import terms, versions
from offline.language.back_references import refers_back
from offline.language.headings import provision_number
from offline.language.lines import begins_item, is_field, is_message
from offline.reading.excerpt import Excerpt

LONGEST = 1_200
"""Characters of a sentence that may be quoted; a longer one has no end that was recognised."""

LONGEST_LIST = 1_500
"""Characters up to which a list is quoted whole."""

LONGEST_FOLLOWING = 300
"""Characters up to which the sentence after the best one is quoted too."""

LONGEST_READ = 800
"""Characters of a sentence and what it goes on from, from the end, that are compared with the
question.
"""

_SHORTEST = 20
_LONGEST_REPLY = 12
"""Characters of a sentence that says little but yes or no, before the one that explains it."""
_ASKED = re.compile("[?？]$")
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s")
"""The beginning of the heading of a section, which needs not be quoted."""
_ASKS_LIST = re.compile(
    r"^how (?:do|can|could|should|to|must|does)\b|^(?:what|which) (?:are|were)\b|\bsteps?\b", re.I
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part of a passage that may be quoted, with the rank of its passage, its place there and the
    id to cite.
    """

    parts: Sequence[Quotable]
    """All parts of the passage."""
    passage: int
    place: int
    reference: str
    others: tuple[str, ...] = ()
    """Ids of other documents that say the same in equal words."""

    @property
    def part(self) -> Quotable:
        """The part itself."""
        return self.parts[self.place]

    @property
    def before(self) -> str:
        """The sentence before it in its paragraph."""
        before = self.parts[self.place - 1] if self.place else None
        return before.plain if before and before.block == self.part.block else ""

    @property
    def context(self) -> str:
        """What stands around it: the headings, the sentence that announces its list, the sentence
        before it.
        """
        part = self.part
        above = " ".join(part.path[1:-1])
        return f"{part.title} {part.outer_keys} {above} {part.heading} {part.lead} {self.before}"

    @property
    def keys(self) -> str:
        """What it is looked up by: the key that heads it, the question that it answers, and the
        provision and the version whose section it is in.
        """
        part = self.part
        question = next((text for text in (part.lead, part.heading) if _ASKED.search(text)), "")
        provisions = map(provision_number, part.path)
        section_versions = versions(" ".join(part.path))
        return " ".join((part.key, question, *provisions, *sorted(section_versions)))

    @property
    def below(self) -> str:
        """The text below what heads it."""
        part = self.part
        return f"{part.heading}. {part.plain}" if part.heading else part.plain

    @property
    def excerpt(self) -> Excerpt:
        """What the reader reads: the part, the two headings and the key above it, what it goes on
        from.
        """
        part = self.part
        above = [*(part.path[-2:] or (part.heading,)), part.outer_keys, part.key]
        return Excerpt(part.plain, " > ".join(filter(None, above)), part.lead or self.before)

    @property
    def readings(self) -> list[str]:
        """The texts by which its meaning is compared: alone, below its heading, and after what it
        goes on from.

        Also the question that stands above it, if one does: whoever asks that asks for this part.
        """
        part = self.part
        after = f"{part.lead or self.before} {part.plain}".strip()[-LONGEST_READ:]
        questions = [text for text in (part.lead, part.heading) if _ASKED.search(text)][:1]
        return [part.plain, self.below, after, *questions]


def candidates(passages: Iterable[tuple[str, Sequence[Quotable]]]) -> list[Candidate]:
    """Return the parts of these passages that may be quoted, each text once, with all documents
    that say it; a passage is given with its reference.
    """
    by_text: dict[str, dict[str, Candidate]] = {}
    for rank, (reference, parts) in enumerate(passages):
        for place, part in enumerate(parts):
            if not _may_be_quoted(part):
                continue
            by_key = by_text.setdefault(part.text.lower(), {})
            if part.key in by_key:
                by_key[part.key] = _also_in(by_key[part.key], reference)
            if part.key not in by_key and (part.key or not by_key):
                by_key.pop("", None)  # a passage that begins below a key has the part without it
                by_key[part.key] = Candidate(parts, rank, place, reference)
    all_candidates = [candidate for by_key in by_text.values() for candidate in by_key.values()]
    return [candidate for candidate in all_candidates if not _is_cut(candidate, all_candidates)]


def _also_in(candidate: Candidate, reference: str) -> Candidate:
    """Return the candidate as one that this document says, too."""
    if reference in (candidate.reference, *candidate.others):
        return candidate
    return replace(candidate, others=(*candidate.others, reference))


def _is_cut(candidate: Candidate, all_candidates: Sequence[Candidate]) -> bool:
    """Return whether a sentence that begins a passage is the end of one in another passage."""
    if candidate.place:
        return False
    text = candidate.part.text
    return any(
        sentence.part.text.endswith(text) and len(sentence.part.text) > len(text)
        for sentence in all_candidates
    )


def _may_be_quoted(part: Quotable) -> bool:
    is_long_enough = (
        part.item
        or len(part.text) >= _SHORTEST
        or not part.text.isascii()
        or is_field(part.text)
        or part.is_heading
    )
    return (is_long_enough or bool(part.key)) and len(part.plain) <= LONGEST


def quotation(question: str, best: Sequence[Candidate]) -> str:
    """Return the candidates, the best first, with what they need to be understood and with their
    references. What several documents say in equal words is cited with all of them.

    What is of one passage stands together in the order of the passage. Lists are whole where the
    question is about the list; a sentence that refers to the one before it comes with that one.
    """
    places: dict[int, set[int]] = {}
    holders: dict[int, Candidate] = {}
    for number, candidate in enumerate(best):
        holders.setdefault(candidate.passage, candidate)
        places.setdefault(candidate.passage, set()).update(
            _with_context(question, candidate, first=not number)
        )
    quoted_texts: set[str] = set()
    groups = [
        (holders[passage], _unquoted(holders[passage].parts, at, quoted_texts))
        for passage, at in places.items()
    ]
    others = {candidate.part.text: candidate.others for candidate in best}
    return "\n\n".join(
        _paragraph(parts, holder.reference, others) for holder, parts in groups if parts
    )


def _unquoted(
    parts: Sequence[Quotable], places: Iterable[int], quoted_texts: set[str]
) -> list[Quotable]:
    """Return the parts at these places in order, without those whose text was quoted; note the rest
    in `quoted_texts`.
    """
    result = [
        parts[place] for place in sorted(places) if parts[place].text.lower() not in quoted_texts
    ]
    quoted_texts.update(part.text.lower() for part in result)
    return result


def _with_context(question: str, candidate: Candidate, *, first: bool) -> set[int]:
    """Return the places in the passage that are quoted for a candidate."""
    parts = candidate.parts
    place = candidate.place
    part = candidate.part
    result = {place}
    if _goes_on(parts, place):
        result.add(place - 1)
    if part.item:
        if first:
            result.update(_rest_of_item(parts, place))
        members = [at for at, neighbour in enumerate(parts) if neighbour.block == part.block]
        if (
            _asks_list(question, part)
            and sum(len(parts[at].text) for at in members) <= LONGEST_LIST
        ):
            result.update(members)
        if part.lead and members[0] and parts[members[0] - 1].text == part.lead:
            result.add(members[0] - 1)
        return result
    following = place + 1
    if following == len(parts):
        return result
    if part.text.endswith(":") and parts[following].item:
        members = [
            at for at, neighbour in enumerate(parts) if neighbour.block == parts[following].block
        ]
        result.update(
            members if sum(len(parts[at].text) for at in members) <= LONGEST_LIST else members[:1]
        )
    elif (
        first
        and not is_field(part.text)
        and parts[following].block == part.block
        and len(parts[following].text) <= LONGEST_FOLLOWING
    ):
        result.add(following)
    return result


def _goes_on(parts: Sequence[Quotable], place: int) -> bool:
    """Return whether a part refers to the one before it, or explains its yes or no, in its
    paragraph or item of a list.
    """
    part = parts[place]
    if not place or parts[place - 1].block != part.block or begins_item(part.text):
        return False
    return refers_back(part.text) or _is_reply(parts[place - 1].text)


def _is_reply(text: str) -> bool:
    """Return whether a sentence is as short as a yes or no."""
    return len(text) <= _LONGEST_REPLY and text.endswith((".", "!", "。", "！"))


def _rest_of_item(parts: Sequence[Quotable], place: int) -> Iterable[int]:
    """Return the place of the sentence after one, if it is short and of the same item of a list."""
    following = place + 1
    if following == len(parts):
        return ()
    part = parts[following]
    is_same = part.item and part.block == parts[place].block and not begins_item(part.text)
    return (following,) if is_same and len(part.text) <= LONGEST_FOLLOWING else ()


def _asks_list(question: str, part: Quotable) -> bool:
    """Return whether a question is about the whole list: by its form, or by words that only the
    list's title has.
    """
    question_terms = terms(question)
    return bool(_ASKS_LIST.search(question)) or len(
        question_terms & terms(f"{part.heading} {part.lead}")
    ) > len(question_terms & terms(part.text))


def _paragraph(
    parts: Sequence[Quotable], reference: str, others: Mapping[str, Sequence[str]]
) -> str:
    """Return the parts as text, each run of those with the same documents followed by these;
    `others` has the further documents by text.
    """
    text = ""
    for number, part in enumerate(parts):
        text += _between(parts[number - 1] if number else None, part) + part.text
        following = parts[number + 1] if number + 1 < len(parts) else None
        references = (reference, *others.get(part.text, ()))
        if following is None or references != (reference, *others.get(following.text, ())):
            text += "".join(f" [{cited}]" for cited in references if cited)
    return text


def _between(before: Quotable | None, part: Quotable) -> str:
    """Return what stands before a part: a blank or a line break, and the key that heads it."""
    key = before.key if before else ""
    has_key = bool(part.key) and part.key != key and not _NUMBERED.match(part.key)
    heading = f"{part.key}: " if has_key else ""
    if before is None:
        return heading
    stands_apart = part.key != key or any(
        neighbour.item
        or neighbour.is_row
        or neighbour.is_heading
        or is_field(neighbour.text)
        or is_message(neighbour.text)
        for neighbour in (part, before)
    )
    return ("\n" if stands_apart else " ") + heading
