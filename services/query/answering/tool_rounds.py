"""Rounds in which a model looks around with tools before its question is answered, within a budget
of rounds, calls, tokens and seconds.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from runtime.errors import Poison, Retryable
from runtime.models.port import Completion, Message, ToolCall
from services.query.answering.dependencies import QueryDependencies
from services.query.answering.evidence import combine, excerpts
from services.query.answering.rounds import Round, Step, with_end, with_rounds
from services.query.answering.tool_use import ToolResult, ToolUse
from services.query.context.tools import TOOLS_TEXT, first_turn, shown_call, tool_instructions
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.earlier_turns import search_text
from services.query.retrieval.results import RetrievalResult
from services.query.retrieval.retrieve import retrieve

MOST_RESULT_TOKENS = 3_000
"""Tokens that the model reads of what one call finds."""

LEAST_RESULT_TOKENS = 300
"""Tokens below which reading what a call finds is not worth the call."""

FIRST_SHARE = 6
"""The first search takes so great a part of the budget at most: what is read is read again in every
round.
"""

LONGEST_REMARK = 300
"""Characters of what the model says is missing."""


async def retrieve_with_tools(
    question: Question, partitions: Partitions, deps: QueryDependencies
) -> RetrievalResult:
    """Return what one search finds, and what a model has found with tools after it. Whatever ends
    its rounds, the question is answered from what was read. Raises `Unavailable` for a store.
    """
    first = await retrieve(question, partitions, deps)
    rounds = ToolRounds(question, partitions, deps, first)
    seconds = deps.effort_limits.seconds
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await rounds.run()
    except TimeoutError:
        if not limit.expired():
            raise
        rounds.end(f"the budget of {seconds:g} seconds is used up")
    return with_rounds(rounds.retrieval(), question, rounds.rounds)


@dataclass
class ToolRounds:
    """The conversation with the model, and what came of it."""

    question: Question
    partitions: Partitions
    deps: QueryDependencies
    first: RetrievalResult
    rounds: list[Round] = field(default_factory=list[Round])
    _results: list[RetrievalResult] = field(default_factory=list[RetrievalResult])
    _messages: list[Message] = field(default_factory=list[Message])
    _calls: set[str] = field(default_factory=set[str])
    _tokens: int = 0
    """Tokens of all rounds."""

    def retrieval(self) -> RetrievalResult:
        """Return what was found until now, put together."""
        if not self._results:
            return self.first
        return combine([self.first, *self._results], self.question, self.deps.count_tokens)

    def end(self, reason: str) -> None:
        """Say why the rounds end here."""
        self.rounds = with_end(self.rounds or [Round(())], reason)

    async def run(self) -> None:
        """Let the model call tools until it needs none, or a budget is used up."""
        limits = self.deps.effort_limits
        allowed_rounds = limits.rounds(self.question.effort)
        self._begin(allowed_rounds)
        while len(self.rounds) < allowed_rounds:
            if not self._result_tokens(1, self._conversation_tokens()):
                self.end(f"the budget of {limits.tokens} tokens is used up")
                return
            self.deps.on_progress("assessing_context")
            completion = await self._chosen()
            if completion is None:
                self.rounds.append(Round((), ended="the model did not answer"))
                return
            if not await self._took(completion):
                return
        if allowed_rounds:
            self.end(f"effort {self.question.effort} has at most {allowed_rounds} rounds")

    def _begin(self, allowed_rounds: int) -> None:
        deps = self.deps
        limits = deps.effort_limits
        budget = min(limits.tokens // FIRST_SHARE, self.question.max_total_tokens)
        text = excerpts(self.first, budget, deps.count_tokens)
        self._messages = [
            Message("system", tool_instructions(limits.searches, allowed_rounds)),
            Message("user", first_turn(search_text(self.question), text)),
        ]

    async def _chosen(self) -> Completion | None:
        """Return what the model says and calls; None where it fails."""
        workspace = self.partitions.status.workspace
        choices = self.deps.tool_choices
        assert choices, "whoever has follow-ups has tools, too"
        try:
            return await choices.choose(workspace, self._messages)
        except (Retryable, Poison):
            return None

    async def _took(self, completion: Completion) -> bool:
        """Use the tools that the model calls, in a round of its own; return whether another one may
        follow.
        """
        remark = " ".join(completion.text.split())[:LONGEST_REMARK]
        calls = completion.calls[: self.deps.effort_limits.searches]
        reply_text = "\n".join([completion.text, *map(shown_call, completion.calls)])
        tokens = self._conversation_tokens() + self.deps.count_tokens(reply_text)
        self._tokens += tokens
        self.rounds.append(Round(list(map(shown_call, calls)), remark, tokens=tokens))
        if not calls:
            self.end("the model asks for nothing more")
            return False
        self._messages.append(
            Message("assistant", completion.text, calls=completion.calls, native=completion.native)
        )
        share = self._result_tokens(len(calls))
        if not share:
            self.end(f"the budget of {self.deps.effort_limits.tokens} tokens is used up")
            return False
        await self._use(calls, share)
        left_out = completion.calls[len(calls) :]
        sentence = f"not done: at most {len(calls)} calls in one reply"
        self._messages += [Message("tool", sentence, result_of=call) for call in left_out]
        return True

    async def _use(self, calls: Sequence[ToolCall], max_tokens: int) -> None:
        """Use these tools at once, and give the model what they find."""
        for call in calls:
            self.deps.on_progress("using_tool", shown_call(call))
        use = ToolUse(self.question, self.partitions, self.deps)
        results = await asyncio.gather(*(self._result(use, call, max_tokens) for call in calls))
        steps: list[Step] = []
        for call, result in zip(calls, results, strict=True):
            new_count = self._add(result.retrieval)
            name, _, arguments = shown_call(call).partition(": ")
            steps.append(Step(name, arguments, new_count, result.error))
            self._messages.append(Message("tool", result.text, result_of=call))
        self.rounds[-1] = replace(
            self.rounds[-1], steps=steps, new_passages=sum(step.passages for step in steps)
        )

    async def _result(self, use: ToolUse, call: ToolCall, max_tokens: int) -> ToolResult:
        call_text = shown_call(call)
        if call_text in self._calls:
            return ToolResult("done before: see above", error="called before")
        self._calls.add(call_text)
        return await use.result(call, max_tokens)

    def _add(self, retrieval: RetrievalResult) -> int:
        """Keep what a tool found; return how many passages are new."""
        known_ids = {
            passage.id for result in (self.first, *self._results) for _, passage in result.passages
        }
        if retrieval:
            self._results.append(retrieval)
        return sum(passage.id not in known_ids for _, passage in retrieval.passages)

    def _result_tokens(self, call_count: int, reserve: int = 0) -> int:
        """Return how many tokens each of so many results may have that the model still reads; 0
        where that is not worth a call. `reserve`: tokens of a call of the model before.
        """
        tokens = self._tokens + reserve + self._conversation_tokens()
        tokens_left = self.deps.effort_limits.tokens - tokens
        share = min(MOST_RESULT_TOKENS, tokens_left // call_count)
        return share if share >= LEAST_RESULT_TOKENS else 0

    def _conversation_tokens(self) -> int:
        texts = [message.content for message in self._messages]
        return self.deps.count_tokens("\n".join([TOOLS_TEXT, *texts]))
