"""Summarises descriptions with a language model."""

from collections.abc import Sequence

from contracts.graph import Partition
from contracts.ids import origin_of, sha256
from contracts.values import TokenUsage
from knowledge.descriptions import Group, estimated_tokens
from runtime.errors import ModelRefused, Unavailable
from runtime.models.port import Chat, Message
from runtime.stores.documents.port import Rows, Table
from runtime.stores.documents.write_behind import WriteBehind
from services.merger.domain.prompt import SUMMARY_VERSION, summary_prompt
from services.merger.port import Summary


class ModelSummarizer:
    """`Summarizer` over a chat model, with a cache in the document store that no rebuild replaces.
    A branch takes what its origin has condensed.

    `context` and `length` are in tokens: of what one call reads, and of what it is asked to write
    at most.
    """

    def __init__(self, chat: Chat, rows: Rows, *, language: str, context: int, length: int) -> None:
        self._chat = chat
        self._rows = WriteBehind(rows)
        self._language = language
        self._context = context
        self._length = length
        self.model = chat.model
        self.prompt_version = f"{SUMMARY_VERSION}:{language}"

    async def summarize(self, workspace: str, group: Group) -> Summary:
        """See `Summarizer.summarize`. Texts too long for one call are condensed in parts first."""
        table = Table("condensed", Partition(workspace, 0))
        key = sha256("\x1f".join((self.model, self.prompt_version, group.hash)))
        rows = await self._rows.get(table, [key])
        if key not in rows and (origin := origin_of(workspace)):
            rows = await self._rows.get(Table("condensed", Partition(origin, 0)), [key])
        if key in rows:
            return Summary(rows[key]["text"], TokenUsage())
        await self._rows.ready()
        parts = self._parts(group.texts)
        if len(parts) == 1:
            summary = await self._ask(group)
        else:
            summaries = [await self.summarize(workspace, Group(group.key, part)) for part in parts]
            texts = tuple(summary.text for summary in summaries)
            summary_of_parts = await self.summarize(workspace, Group(group.key, texts))
            usage = sum((summary.usage for summary in summaries), summary_of_parts.usage)
            summary = Summary(summary_of_parts.text, usage)
        await self._rows.put(table, {key: {"text": summary.text}})
        return summary

    def _parts(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return runs of texts that fit into one call, at least two texts in each, so that every
        round leaves fewer.
        """
        runs: list[list[str]] = [[]]
        tokens_left = self._context
        for text in texts:
            tokens = estimated_tokens(text)
            if tokens > tokens_left and len(runs[-1]) > 1:
                runs.append([])
                tokens_left = self._context
            runs[-1].append(text)
            tokens_left -= tokens
        return [tuple(run) for run in runs]

    async def _ask(self, group: Group) -> Summary:
        completion = await self._chat.complete(
            [Message("user", summary_prompt(group, self._language, self._length))]
        )
        if completion.cut:
            raise ModelRefused(
                f"{self.model} reached its length limit before the end of a summary", "length"
            )
        text = completion.text.strip()
        if not text:
            raise Unavailable(f"{self.model} wrote an empty summary")
        return Summary(text, completion.usage)
