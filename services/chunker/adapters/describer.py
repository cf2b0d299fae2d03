"""The describer that shows figures to a language model."""

from contracts.values import Figure
from runtime.errors import Unavailable
from runtime.models.port import Chat, Message, Picture
from services.chunker.domain.prompt import (
    description_in,
    prompt_version,
    system_prompt,
    user_prompt,
)
from services.chunker.port import Description


class ModelDescriber:
    """`Describer` over a chat model that sees pictures."""

    def __init__(self, chat: Chat, language: str) -> None:
        self._chat = chat
        self._system = system_prompt(language)
        self.model = chat.model
        self.prompt_version = prompt_version(language)

    async def describe(self, figure: Figure, picture: bytes) -> Description:
        """See `Describer.describe`."""
        message = Message(
            "user",
            user_prompt(figure.caption),
            pictures=(Picture(picture, figure.media_type),),
        )
        completion = await self._chat.complete([Message("system", self._system), message])
        text = description_in(completion.text, is_cut=completion.cut)
        if not text:
            raise Unavailable(f"{self.model} gave an empty description")
        return Description(text, completion.usage)
