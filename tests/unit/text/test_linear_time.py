"""Every filter and parser that reads answers, names or documents takes a bounded number of steps
for each character.

A text of somebody else must not stop the event loop for everybody. What is measured is CPU time, in
steps of the interpreter; a text that takes more than a few of them for each character must not take
more in a longer text.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from contracts import names as contract_names
from contracts import spelling
from contracts import text as contract_text
from contracts.chunking import Chunking
from offline.answers import (
    asked_nouns,
    definitions,
    keywords,
    layout,
    question_kinds,
    quotable_sentences,
    quotation,
    relevance,
)
from offline.embeddings import lexical
from offline.extraction.extract import extract
from offline.language import languages, names, normal_forms, sentences, terms
from runtime.text import reasoning, token_boundaries
from services.chunker.domain import document, headings, recursive, windows
from services.extractor.domain import fence, grounding, json_rows, legacy_format, rows
from services.gateway.compat import conversation
from services.gateway.graph import alias_rules
from services.query.answering import citations, reference_lists, safe_markdown
from services.query.answering.answer_text import clean
from services.query.context import follow_up, prompt
from services.query.question import Turn
from tests.support.steps import hostile_texts, steps

LENGTH = 3_200
MOST_STEPS = 600
"""Steps for one character. An honest text takes some 20 for a filter, and 150 to find its names."""

SUSPECT = 60
"""Steps for one character from which the growth is looked at."""

MOST_GROWTH = 2.5
"""How many times as many steps for a character a text may take that is eight times as long."""


class ByteTokens:
    """One token for each byte."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        return bytes(tokens)


TOKENS = ByteTokens()


def streamed(make: Callable[[], Any], size: int) -> Callable[[str], object]:
    def run(text: str) -> None:
        stream = make()
        for start in range(0, len(text), size):
            stream.feed(text[start : start + size])
        stream.end()

    return run


def outline(text: str) -> None:
    list(headings.Outline().read(text[start : start + 100] for start in range(0, len(text), 100)))


def chunks(text: str) -> None:
    pieces = [text[start : start + 100] for start in range(0, len(text), 100)]
    list(
        document.spans(
            (clean for clean, _ in contract_text.cleaned(pieces, [3])), TOKENS, Chunking(size=200)
        )
    )


def reference_list_filter() -> reference_lists.ReferenceListFilter:
    return reference_lists.ReferenceListFilter({"a.md": "1"})


def quotable(text: str) -> object:
    return quotation.candidates([("1", quotable_sentences.quotable(text))])


def agreement(text: str) -> None:
    for question in ("how many?", "when?", "who?", "which version?"):
        question_kinds.agreement(question, text)
    question_kinds.agreement("Сколько?", text, "russian")
    question_kinds.agreement(text, "a")
    relevance.numbers(text)
    relevance.names(text)
    relevance.terms(text)


def thing_asked_for(text: str) -> None:
    asked_nouns.noun_agreement("How many sails?", text, text, "english")
    asked_nouns.noun_agreement(f"Which {text}", "a", "b", "english")
    languages.language_of(text)
    (sail,) = quotation.candidates([("1", quotable_sentences.quotable("Sail, n. A long cloth."))])
    definitions.definition_bonus(f"What is {text}", sail, "english")
    definitions.definition_bonus(text, sail, "chinese")


def recent_turns(text: str) -> object:
    turns = [
        Turn("assistant", f"a\n\n### References\n\n{text}"),
        Turn("assistant", f"{text}\n\n### References\n\nx"),
    ]
    return conversation.recent_turns(turns, 10**9)


READERS: dict[str, Callable[[str], object]] = {
    "safe Markdown": safe_markdown.safe,
    "safe Markdown, streamed": streamed(safe_markdown.SafeMarkdown, 5),
    "citations": lambda text: citations.remove_unknown_citations(text, {"1"}),
    "citations, streamed": streamed(lambda: citations.CitationFilter({"1"}), 5),
    "cited ids": lambda text: citations.cited_ids(text, ["1", "2"]),
    "reference lists": lambda text: streamed(reference_list_filter, len(text))(text),
    "reference lists, streamed": streamed(reference_list_filter, 5),
    "an answer": lambda text: clean(text, {"a.md": "1"}),
    "reasoning": reasoning.split_reasoning,
    "reasoning, streamed": streamed(reasoning.ReasoningFilter, 5),
    "sentences": sentences.sentences,
    "names": names.names,
    "addresses": terms.without_addresses,
    "offline extraction": extract,
    "headings": outline,
    "chunks": chunks,
    "recursive chunks": lambda text: list(recursive.split_recursively([text], TOKENS, 200, 20)),
    "chunks at a character": lambda text: list(
        windows.split_by_character([text], TOKENS, 200, 20, "](", only_character=False)
    ),
    "borders of tokens": lambda text: list(token_boundaries.pieces([text], 300)),
    "JSON rows": json_rows.parse_json,
    "JSON rows, within a text": lambda text: json_rows.parse_json(f'{{"name": "{text}'),
    "JSON rows, within a list": lambda text: json_rows.parse_json(f'{{"entities": [{text}]}}'),
    "rows": rows.parse_rows,
    "rows, within a field": lambda text: rows.parse_rows(f"entity<|#|>{text}"),
    "legacy rows": lambda text: legacy_format.without_legacy_rows(f'("entity"<|>{text}'),
    "fence": lambda text: fence.unescape(fence.fence(fence.escape(text))),
    "a name": contract_names.clean_name,
    "a folded text": contract_names.fold,
    "a grounded name": lambda text: grounding.contains_name(text[:50], text),
    "sanitized": contract_text.sanitize,
    "one spelling": spelling.one_spelling,
    "readable": spelling.readable,
    "quotable sentences": quotable,
    "relevance": agreement,
    "the thing asked for": thing_asked_for,
    "layout": layout.sections,
    "keywords": keywords.keywords,
    "keywords of a model": lambda text: prompt.parse_keywords(f'{{"a": {text}}}'),
    "a follow-up": lambda text: follow_up.parse_follow_up(f'{{"searches": ["{text}'),
    "words": normal_forms.words,
    "a message": lambda text: conversation.parse_message(f"/mix[{text}"),
    "earlier turns": recent_turns,
    "aliases": lambda text: alias_rules.pairs([(text, "person"), (f"{text} B", "person")]),
    "hashed words": lambda text: lexical.vector(text, 64),
}


@pytest.mark.parametrize("name", READERS)
def test_each_character_takes_a_bounded_number_of_steps(name: str) -> None:
    read = READERS[name]
    short_texts = dict(hostile_texts(LENGTH // 8))
    for kind, text in hostile_texts(LENGTH):
        if steps(lambda text=text: read(text)) / len(text) < SUSPECT:
            continue
        short_steps = least_steps(read, short_texts[kind])
        limit = min(MOST_STEPS, MOST_GROWTH * max(short_steps, SUSPECT / 2))
        per_character = least_steps(read, text, limit)
        assert per_character < limit, f"{kind}: {short_steps:.0f} to {per_character:.0f}"


def least_steps(read: Callable[[str], object], text: str, enough: float = 0.0) -> float:
    """Steps for each character, the least of several measurements, for a busy machine disturbs
    some; there are no more of them once one is below `enough`.
    """
    least = math.inf
    for _ in range(4):
        least = min(least, steps(lambda: read(text)) / len(text))
        if least < enough:
            break
    return least
