"""The extractor that calls a language model: once for the passage, once more for what the first
answer missed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from contracts.ids import sha256
from runtime.bus.attempts import Attempts
from runtime.errors import ModelRefused, Poison, Unavailable
from runtime.models.port import Chat, Completion, Message
from services.extractor.domain.doubts import doubts
from services.extractor.domain.extraction import Extraction
from services.extractor.domain.gleaning import merge_rounds, render_answer
from services.extractor.domain.grounding import mark_grounded
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.domain.parsing import parse_answer
from services.extractor.domain.prompt import (
    continue_prompt,
    prompt_version,
    system_prompt,
    user_prompt,
)
from services.extractor.port import RoundGivenUp

ROWLESS_TRIES = 3
"""Answers without a row, each cut off at its length limit, after which a passage is given up: each
of them is paid.
"""


class ModelExtractor:
    """`Extractor` over a chat model that answers in rows or JSON, as `config` says. `count` returns
    a text's tokens.
    """

    def __init__(self, chat: Chat, config: ExtractionConfig, count: Callable[[str], int]) -> None:
        self._chat = chat
        self._config = config
        self._count = count
        self._system = system_prompt(config)
        self._continue = continue_prompt(config)
        self._rowless = Attempts()
        self.model = chat.model
        self.draft_version = prompt_version(config, gleaning=False)
        self.prompt_version = (
            prompt_version(config, gleaning=True) if config.gleaning else self.draft_version
        )

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """See `Extractor.extract`.

        An answer that was cut off before its first row raises `Unavailable`, and `ModelRefused` the
        third time.
        """
        completion = await self._chat.complete(
            self._messages(content, headings), json=self._config.json
        )
        extraction = self._parse(completion, content)
        passage = sha256("\x1f".join((*headings, content)))
        if not completion.cut or extraction.entities or extraction.relations:
            self._rowless.forget(passage)
            return extraction
        reason = f"{self.model} was cut off before it wrote one row"
        if self._rowless.add(passage, "cut") < ROWLESS_TRIES:
            raise Unavailable(reason)
        self._rowless.forget(passage)
        raise ModelRefused(
            f"{reason}, {ROWLESS_TRIES} times: let it write more by EXTRACT_LLM_EXTRA_BODY, "
            "or choose another EXTRACT_LLM_MODEL",
            "length",
        )

    async def glean(self, content: str, headings: Sequence[str], first: Extraction) -> Extraction:
        """See `Extractor.glean`. Returns the first extraction if the conversation would be too long
        for the model.

        So it does if the model refuses this round for its content or length. Raises `RoundGivenUp`
        when this round has failed too often though the model answers others, and the errors of
        `Chat` except `Poison`.
        """
        messages = [
            *self._messages(content, headings),
            Message("assistant", render_answer(self._config, first)),
            Message("user", self._continue),
        ]
        if self._is_too_long(messages):
            return first
        try:
            completion = await self._chat.complete(messages, json=self._config.json)
        except Poison as error:
            if isinstance(error, ModelRefused) and error.reason == "text":
                raise RoundGivenUp(str(error)) from error
            return first
        extraction = merge_rounds(first, self._parse(completion, content))
        return replace(extraction, warnings=doubts(extraction, content, completion))

    def _is_too_long(self, messages: Sequence[Message]) -> bool:
        """Return whether the conversation exceeds the limit. What differs from passage to passage
        is counted only if it may, for a token has a byte or more.
        """
        limit = self._config.max_input_tokens
        texts = [message.content for message in messages]
        instructions = self._instruction_tokens
        if sum(instructions.get(text) or len(text.encode()) for text in texts) <= limit:
            return False
        return sum(instructions.get(text) or self._count(text) for text in texts) > limit

    @cached_property
    def _instruction_tokens(self) -> dict[str, int]:
        """The tokens of the messages that are the same for every passage."""
        return {text: self._count(text) for text in (self._system, self._continue)}

    def _messages(self, content: str, headings: Sequence[str]) -> list[Message]:
        return [
            Message("system", self._system),
            Message("user", user_prompt(self._config, content, headings)),
        ]

    def _parse(self, completion: Completion, content: str) -> Extraction:
        entities, relations = parse_answer(completion.text, self._config, cut=completion.cut)
        extraction = mark_grounded(Extraction(entities, relations, completion.usage), content)
        return replace(extraction, warnings=doubts(extraction, content, completion))
