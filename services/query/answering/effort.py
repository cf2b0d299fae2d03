"""Retrieval with more effort: rounds in which a model reads what was found. With medium effort it
names searches for what is missing, with high effort it looks around with tools.

Without a model more effort is one wider search. Every round is listed under `rounds` in
`RetrievalResult.info`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from runtime.errors import Poison, Retryable
from services.query.answering.dependencies import QueryDependencies
from services.query.answering.evidence import combine, excerpts
from services.query.answering.rounds import Round, with_end, with_rounds
from services.query.answering.tool_rounds import retrieve_with_tools
from services.query.context.follow_up import FollowUp, follow_up_prompt, parse_follow_up
from services.query.partitions import Partitions
from services.query.question import Effort, Keywords, Question, ignore_progress
from services.query.retrieval.results import RetrievalResult
from services.query.retrieval.retrieve import read_as_seen, retrieve

WIDER: dict[Effort, int] = {"low": 1, "medium": 2, "high": 4}
"""How many times as much is searched for without a model."""

MOST_SEARCHED = 1000
"""Largest `top_k` and `chunk_top_k`, as in a request."""

LEAST_READ = 300
"""Tokens of excerpts below which reading them is not worth a call."""


async def retrieve_with_effort(
    question: Question, partitions: Partitions, deps: QueryDependencies
) -> RetrievalResult:
    """Return what `retrieve` finds, after as many rounds as the question's effort allows. Raises
    `Unavailable`.
    """
    if question.effort == "low" or question.mode == "bypass":
        return await retrieve(question, partitions, deps)
    if deps.follow_ups is None:
        return await _widely(question, partitions, deps)
    in_rounds = retrieve_with_tools if question.effort == "high" else _with_follow_ups

    async def read(_: Question) -> RetrievalResult:
        return await in_rounds(question, partitions, deps)

    # Each search is of what its viewer sees then: of the first much may be hidden after the last.
    return await read_as_seen(question, partitions, deps, read)


async def _with_follow_ups(
    question: Question, partitions: Partitions, deps: QueryDependencies
) -> RetrievalResult:
    """Return what several rounds of searches find, which the model names."""
    results = [await retrieve(question, partitions, deps)]
    retrieval = results[0]
    rounds = list[Round]()
    queries = [question.query]
    allowed_rounds = deps.effort_limits.rounds(question.effort)
    while len(rounds) < allowed_rounds and not (rounds and rounds[-1].ended):
        deps.on_progress("assessing_context")
        search_round, follow_up = await _plan(
            question, retrieval, queries, rounds, partitions, deps
        )
        if follow_up.searches:
            results += await _search(question, follow_up.searches, partitions, deps)
            before = {passage.id for _, passage in retrieval.passages}
            retrieval = combine(results, question, deps.count_tokens)
            new_count = sum(passage.id not in before for _, passage in retrieval.passages)
            search_round = replace(
                search_round,
                new_passages=new_count,
                ended="" if new_count else "the searches found nothing new",
            )
            queries += follow_up.searches
        rounds.append(search_round)
    if rounds and not rounds[-1].ended:
        reason = f"effort {question.effort} has at most {allowed_rounds} rounds"
        rounds = with_end(rounds, reason)
    return with_rounds(retrieval, question, rounds)


async def _plan(
    question: Question,
    retrieval: RetrievalResult,
    queries: Sequence[str],
    rounds: Sequence[Round],
    partitions: Partitions,
    deps: QueryDependencies,
) -> tuple[Round, FollowUp]:
    """Let the model read what was found; return the round and what to search for. A bad reply ends
    the rounds.
    """
    limits = deps.effort_limits
    count = deps.count_tokens
    assert deps.follow_ups
    empty_prompt_tokens = count(follow_up_prompt(question.query, queries, limits.searches, ""))
    tokens_left = (
        limits.tokens - sum(search_round.tokens for search_round in rounds) - empty_prompt_tokens
    )
    if tokens_left < LEAST_READ:
        return Round((), ended=f"the budget of {limits.tokens} tokens is used up"), FollowUp()
    text = excerpts(retrieval, min(tokens_left, question.max_total_tokens), count)
    prompt = follow_up_prompt(question.query, queries, limits.searches, text)
    try:
        reply = await deps.follow_ups.reply(partitions.status.workspace, prompt)
    except (Retryable, Poison):
        return Round((), tokens=count(prompt), ended="the model did not answer"), FollowUp()
    tokens = count(prompt) + count(reply)
    follow_up = parse_follow_up(reply)
    if follow_up is None:
        return Round((), tokens=tokens, ended="the model's reply could not be read"), FollowUp()
    known_queries = {query.casefold() for query in queries}
    searches = tuple(
        query for query in follow_up.searches if query.casefold() not in known_queries
    )[: limits.searches]
    if not searches:
        end_reason = "nothing else to search for" if follow_up.missing else "nothing is missing"
        return Round((), follow_up.missing, tokens=tokens, ended=end_reason), FollowUp()
    return Round(searches, follow_up.missing, tokens=tokens), replace(follow_up, searches=searches)


async def _search(
    question: Question, searches: Sequence[str], partitions: Partitions, deps: QueryDependencies
) -> list[RetrievalResult]:
    """Search for each, in the mode and the documents of the question. Each is its own keyword: no
    call names others.
    """
    quiet = replace(deps, on_progress=ignore_progress)
    return await asyncio.gather(
        *(
            retrieve(
                replace(question, query=search, keywords=Keywords((search,), (search,))),
                partitions,
                quiet,
            )
            for search in searches
        )
    )


async def _widely(
    question: Question, partitions: Partitions, deps: QueryDependencies
) -> RetrievalResult:
    """Search once for several times as much, within the limits of a request."""
    factor = WIDER[question.effort]
    top_k = max(question.top_k, min(question.top_k * factor, MOST_SEARCHED))
    chunk_top_k = max(question.chunk_top_k, min(question.chunk_top_k * factor, MOST_SEARCHED))
    retrieval = await retrieve(
        replace(question, top_k=top_k, chunk_top_k=chunk_top_k), partitions, deps
    )
    end_reason = f"no language model: one search with top_k {top_k} and chunk_top_k {chunk_top_k}"
    return with_rounds(
        retrieval,
        question,
        [Round([question.query], new_passages=len(retrieval.passages), ended=end_reason)],
    )
