"""An answer without a language model: the sentences that answer, quoted, or that the documents do
not say.

The score of a sentence is the share of the question's words in and around it (0 to 1), plus the
similarity of embeddings (0 to 1), plus small amounts for the kind of answer that is asked for and
for the rank of its passage, less half a point where a number or a time is asked for and it has
none. A passage with none of the names in the question answers nothing, nor does one with none of
its identifiers, nor a sentence without its numbers but those that tell a case of the asker's own.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from offline.answers import crossing
from offline.answers.asked_nouns import noun_agreement
from offline.answers.comparison import (
    READER,
    Embeds,
    Models,
    Reads,
    Scoring,
)
from offline.answers.cut_tables import with_header
from offline.answers.definitions import definition_bonus, is_of_other_version
from offline.answers.passage_ends import completed, without_cut_sentence
from offline.answers.question_kinds import agreement
from offline.answers.quotable_sentences import Quotable, quotable
from offline.answers.quotation import Candidate, candidates, quotation
from offline.answers.relevance import (
    SentenceTerms,
    amounts,
    identifiers,
    lexical_scores,
    names,
    numbers,
    terms,
    versions,
    wanted_terms,
)
from offline.answers.respelling import respelled
from offline.answers.two_hops import MOST_BRIDGES, bridges, two_hops
from offline.language.languages import ENGLISH, is_foreign, language_among, language_of

NO_MODEL = (
    "(No language model is configured: these sentences are quoted from the documents as they "
    "stand.)"
)

NOT_SAID = "The documents do not say."
"""The answer when no sentence fits the question well enough."""

NO_MODEL_READ = (
    "(No language model is configured: no sentence of what was found fits the question; "
    "only_need_context shows what was found.)"
)

QUOTATIONS = 3
"""Most sentences that are chosen for an answer; each brings what it needs to be understood."""

LEADS = 3
"""Most sentences that may lead from the first question of two to the second."""

RELATIVE_SCORE = 0.55
"""Sentences below this share of the best score are not quoted."""

NEAREST = (
    "Nearest to the question stands this, which may be about something else, so look whether it "
    "answers:"
)
"""What announces, after `NOT_SAID`, the sentences that are too far from the question to answer."""

LEAST_NEAR = 0.6
"""Share of the least score of an answer from which a sentence is near enough to be shown."""

BEST_PASSAGE = 0.1
"""Bonus for sentences of the first passage; the second gets half, the third a third."""

LEVEL = 0.5
"""Malus in another language for passages to which others are preferred, for each level of these."""

FOREIGN = 0.3
"""What sentences lose whose passage is in another language than the question, where that is not
English: words that they share with it are few, and chance.
"""

PRESELECTED = 64
"""Most sentences, those with most words of the question, that are looked at more closely."""

_LABEL = re.compile(r"(?:\d{1,3}[.)])+\s+")
"""The number of an item or a section, which answers nothing."""

OVERVIEW = terms(
    "document text file page content topic subject theme summary summarize overview main "
    "point describe"
)
"""Words of questions about the documents as a whole, which no sentence answers and every sentence
may illustrate.
"""


@dataclass(frozen=True)
class SourcePassage:
    """A passage that may be quoted, with the id by which it is cited."""

    reference: str
    text: str
    headings: tuple[str, ...] = ()
    title: str = ""
    """The name of its document."""
    preceding: str = ""
    """What stands before it in its document, as far as that is known."""
    following: str = ""
    """What follows it in its document, as far as that is known."""
    ends_inside: bool = False
    """Whether its document goes on, so that its last sentence may be cut."""
    begins_inside: bool = False
    """Whether it is not the first passage of its document, so may begin within a sentence."""
    level: int = 0
    """How many levels of passages that say as much are preferred: its document is not in force, or
    a document of greater authority contradicts it.
    """


async def extractive_answer(
    question: str,
    passages: Sequence[SourcePassage],
    embedder: Embeds,
    multilingual: Embeds | None = None,
    reader: Reads | None = None,
) -> str:
    """Return the best sentences with their references, or that the documents do not say, with the
    sentences that are nearest; passages are given best first.

    `multilingual`: what embeds in the languages that `embedder` may not know. `reader`: what reads
    the question and a sentence together.
    """
    models = Models(embedder, multilingual, reader)
    language = language_among(question, [passage.text for passage in passages])
    if models.can_cross and _are_in_another_language(passages, language):
        crossed = await _crossed(question, passages, models, language)
        best = [candidate for score, candidate in crossed if score >= crossing.LEAST_SCORE]
        nearest = [candidate for score, candidate in crossed if score >= crossing.LEAST_NEAR]
        return _answer(question, best[:QUOTATIONS], nearest)
    question = respelled(question, [_surroundings(passage) for passage in passages], language)
    if hops := await _of_both_hops(question, passages, models, language):
        return _answer(question, hops)
    ranking = await scored_candidates(question, passages, models, language)
    least_score = models.least_score(language)
    best = _best(question, ranking, least_score)
    nearest = [candidate for score, candidate in ranking if score >= LEAST_NEAR * least_score]
    return _answer(question, best, nearest)


def _answer(question: str, best: Sequence[Candidate], nearest: Sequence[Candidate] = ()) -> str:
    """Return the best candidates quoted; without any that the documents do not say, with those that
    are nearest.
    """
    if best:
        return f"{quotation(question, best)}\n\n{NO_MODEL}"
    hint = f"{NEAREST}\n\n{quotation(question, nearest[:QUOTATIONS])}\n\n" if nearest else ""
    return f"{NOT_SAID}\n\n{hint}{NO_MODEL_READ}"


def _are_in_another_language(passages: Sequence[SourcePassage], language: str) -> bool:
    """Return whether all passages are in another language than the question, and the reader knows
    both.
    """
    return bool(passages) and all(
        crossing.is_in_another_language(passage.text, language) for passage in passages
    )


async def _crossed(
    question: str, passages: Sequence[SourcePassage], models: Models, language: str
) -> list[tuple[float, Candidate]]:
    """Return the best sentences of the first passages, which are in another language, with their
    scores.
    """
    first = passages[: crossing.PASSAGES]
    sentences = [
        sentence
        for sentence in _sentences(question, first, language)
        if _has_codes(question, first[sentence.passage])
    ]
    crossed = await crossing.crossed_candidates(question, sentences, models, language)
    malus = crossing.LEAST_SCORE * LEVEL
    return sorted(crossed, key=lambda pair: malus * first[pair[1].passage].level - pair[0])


def _meets(question: str, asked_terms: frozenset[str], answer: Candidate, language: str) -> bool:
    """Return whether a sentence has a word of what is asked, or an answer of the kind."""
    text = answer.part.plain
    return not asked_terms.isdisjoint(terms(text, language)) or (
        agreement(question, text, language) > 0
    )


def _best(
    question: str, ranking: Sequence[tuple[float, Candidate]], least_first: float
) -> list[Candidate]:
    """Return the candidates of a ranking that are quoted; none where the first one is too poor."""
    if not ranking or (ranking[0][0] < least_first and not terms(question) <= OVERVIEW):
        return []
    least_score = RELATIVE_SCORE * ranking[0][0]
    return [candidate for score, candidate in ranking if score >= least_score][:QUOTATIONS]


async def _of_both_hops(
    question: str, passages: Sequence[SourcePassage], models: Models, language: str
) -> list[Candidate]:
    """Return the sentence that answers a question of two hops and the one that leads to it; none of
    another question, and none where either is lacking.
    """
    least_score = models.least_score(language)
    hops = two_hops(question, language)
    if hops is None:
        return []
    ranking = await scored_candidates(hops.first, passages, models, language)
    least_lead = max(least_score, RELATIVE_SCORE * ranking[0][0]) if ranking else 0.0
    leads = [lead for score, lead in ranking if score >= least_lead][:LEADS]
    if any(hops.own_terms(language) <= terms(lead.part.plain, language) for lead in leads):
        return []
    leads_by_name = {
        name: lead
        for lead in reversed(leads)
        for name in bridges(f"{lead.part.plain} {lead.part.title}", question, language)
    }
    answers: list[tuple[float, Candidate, Candidate]] = []
    for name, lead in list(leads_by_name.items())[-MOST_BRIDGES:]:
        ranking = await scored_candidates(hops.second(name), passages, models, language)
        answers += [
            (score, answer, lead)
            for score, answer in ranking[:1]
            if score >= least_score
            and answer.part != lead.part
            and _meets(hops.second(name), hops.own_terms(language), answer, language)
        ]
    if not answers:
        return []
    _, answer, lead = max(answers, key=itemgetter(0))
    rank = answer.passage if lead.parts == answer.parts else answer.passage + 1
    return [answer, replace(lead, passage=rank)]  # each ranking numbers its own passages


async def scored_candidates(
    question: str, passages: Sequence[SourcePassage], models: Models, language: str = ""
) -> list[tuple[float, Candidate]]:
    """Return the best sentences with their scores, best first; of those that answer, those of
    passages to which others are preferred come behind those of the others.

    Those that share most words with the question are embedded below what heads them; those that are
    best then also alone and after what they go on from.
    """
    language = language or language_of(question)
    scoring = models.scoring(language)
    passages = [passage for passage in passages if _speaks_of(question, passage, language)]
    sentences = _sentences(question, passages, language)
    scores = _scores(question, passages, sentences, scoring, language)
    order = sorted(scores, key=lambda i: (-scores[i], sentences[i].passage, i))
    order = order[: scoring.candidates]
    if not order:
        return []
    scores = {i: scores[i] for i in order}
    scores = await _compared(question, sentences, scores, models, language)
    if reader := models.reading(language):
        excerpts = [sentences[i].excerpt for i in scores]
        judgements = await reader.judgements(question, excerpts, language)
        weight = READER * scoring.least_score
        for i, judgement in zip(scores, judgements, strict=True):
            scores[i] += weight * judgement
    least_score = models.least_score(language)
    levels = {i: passages[sentences[i].passage].level for i in scores if scores[i] >= least_score}
    ranking = sorted(scores, key=lambda i: (levels.get(i, math.inf), -scores[i], i))
    return [(scores[i], sentences[i]) for i in ranking]


async def _compared(
    question: str,
    sentences: Sequence[Candidate],
    scores: Mapping[int, float],
    models: Models,
    language: str,
) -> dict[int, float]:
    """Return the scores with the similarity of meaning, of those sentences that are nearest."""
    scoring = models.scoring(language)
    comparison = models.comparison(question, language)
    similarities = await comparison.similarities([[sentences[i].below] for i in scores])
    rough = {
        i: score + scoring.score(0.0, meaning)
        for (i, score), meaning in zip(scores.items(), similarities, strict=True)
    }
    finalists = sorted(rough, key=lambda i: -rough[i])[: scoring.finalists]
    similarities = await comparison.similarities([sentences[i].readings for i in finalists])
    return {
        i: scores[i] + scoring.score(0.0, meaning)
        for i, meaning in zip(finalists, similarities, strict=True)
    }


def _scores(
    question: str,
    passages: Sequence[SourcePassage],
    sentences: Sequence[Candidate],
    scoring: Scoring,
    language: str,
) -> dict[int, float]:
    """Return what counts beside meaning, of the sentences that have most words of the question."""
    lexical = lexical_scores(
        wanted_terms(question, language),
        [
            SentenceTerms(
                terms(f"{sentence.keys} {sentence.part.plain}", language),
                terms(sentence.context, language),
                sentence.passage,
            )
            for sentence in sentences
        ],
        language,
    )
    foreign = [
        FOREIGN if language != ENGLISH and is_foreign(passage.text, language) else 0.0
        for passage in passages
    ]
    nearest = sorted(range(len(sentences)), key=lambda i: (-lexical[i], sentences[i].passage, i))
    return {
        i: scoring.score(lexical[i], 0.0)
        + _fitness(question, sentences[i], language)
        - foreign[sentences[i].passage]
        for i in nearest[:PRESELECTED]
    }


def _fitness(question: str, sentence: Candidate, language: str) -> float:
    """Return what counts beside words and meaning: the kind of answer, definitions, the rank."""
    text = _LABEL.sub("", sentence.part.plain)
    kind = agreement(question, text, language)
    noun = noun_agreement(question, f"{sentence.part.key} {text}", sentence.context, language)
    defines = definition_bonus(question, sentence, language) if kind >= 0 else 0.0
    return kind + noun + defines + BEST_PASSAGE / (1 + sentence.passage)


def _sentences(question: str, passages: Sequence[SourcePassage], language: str) -> list[Candidate]:
    """Return the sentences that have the numbers of the question, and do not stand below the
    headings of other versions; headings only where the day that they tell is asked for.
    """
    sources = ((passage.reference, _parts(passage)) for passage in passages)
    question_numbers = numbers(question) - amounts(question, language)
    question_versions = versions(question)
    return [
        candidate
        for candidate in candidates(sources)
        if question_numbers <= numbers(candidate.part.plain) | numbers(candidate.context)
        and not is_of_other_version(candidate.part, question_versions)
        and not (
            candidate.part.is_heading and agreement(question, candidate.part.text, language) <= 0
        )
    ]


def _parts(passage: SourcePassage) -> Sequence[Quotable]:
    """Return the quotable parts of a passage, none of them cut by its ends."""
    text = completed(passage.text, passage.following)
    is_whole = text == passage.text
    if passage.begins_inside:
        text = with_header(text, passage.preceding)
    parts = quotable(text, passage.headings, begins_inside=passage.begins_inside)
    if passage.ends_inside and is_whole:
        return without_cut_sentence(parts)
    return parts


def _speaks_of(question: str, passage: SourcePassage, language: str) -> bool:
    """Return whether the passage, its headings or its title has any of the names in the question,
    and what `_has_codes` asks for; True for a question without names.
    """
    question_names = names(question, language)
    return _has_codes(question, passage) and (
        not question_names or not question_names.isdisjoint(terms(_surroundings(passage), language))
    )


def _has_codes(question: str, passage: SourcePassage) -> bool:
    """Return whether the passage has the versions in the question, and any of its identifiers, be
    it in its headings or its title.
    """
    if not versions(question) <= versions(f"{passage.text} {passage.headings}"):
        return False
    question_identifiers = identifiers(question)
    text = _surroundings(passage)
    return not question_identifiers or any(
        identifier.search(text) for identifier in question_identifiers
    )


def _surroundings(passage: SourcePassage) -> str:
    """Return the passage with its headings and its title."""
    return f"{passage.text} {passage.headings} {passage.title}"
