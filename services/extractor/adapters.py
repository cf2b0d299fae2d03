"""The two extractors: one asks a language model, one works offline and says so by its name."""

import asyncio
from collections.abc import Sequence

from runtime.errors import Unavailable
from runtime.models.offline import extraction as offline
from runtime.models.ports import Chat, Extraction, Message
from services.extractor.domain.prompt import PROMPT_VERSION, system_prompt, user_prompt
from services.extractor.domain.rows import parse


class ModelExtractor:
    """Asks a language model in the row format."""

    def __init__(self, chat: Chat, language: str) -> None:
        self._chat, self._system = chat, Message("system", system_prompt(language))
        self.model, self.prompt_version = chat.model, f"{PROMPT_VERSION}:{language}"

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """One call. Raises `Unavailable` for an answer that was cut before its first row, and what `Chat` raises."""
        completion = await self._chat.complete([self._system, Message("user", user_prompt(content, headings))])
        entities, relations = parse(completion.text)
        if completion.cut and not entities:
            raise Unavailable(f"{self.model} was cut off before it wrote one row")
        return Extraction(entities, relations, completion.usage)


class OfflineExtractor:
    """Finds names and ties by rules, without a model."""

    model = offline.MODEL
    prompt_version = offline.PROMPT_VERSION

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        """A few milliseconds of computing in a thread."""
        return await asyncio.to_thread(offline.extract, content, headings)
