"""Gives each workspace the extractor of its settings: a branch may have settings of its own."""

from collections.abc import Callable
from dataclasses import dataclass, field

from contracts.events import BranchSettings
from runtime.branches import branch_settings
from runtime.bus.port import Log
from runtime.models.port import Chat
from services.extractor.port import Extractor

OpenExtractor = Callable[[BranchSettings], tuple[Extractor, Chat | None]]
"""Opens the extractor of these settings, and the model to close afterwards."""


@dataclass
class BranchExtractors:
    """Opens what a branch needs when its first passage comes. `usual_extractor` is that of all
    others.
    """

    log: Log
    usual_extractor: Extractor
    open: OpenExtractor
    _extractors: dict[str, Extractor] = field(default_factory=dict[str, Extractor])
    _chats: list[Chat] = field(default_factory=list[Chat])

    async def of(self, workspace: str) -> Extractor:
        """Return the extractor of a workspace. Raises `Unavailable`, or ConfigurationError for
        settings that cannot be used.
        """
        settings = await branch_settings(self.log, workspace)
        if settings is None or not (
            settings.extract_model or settings.prompt or settings.entity_types
        ):
            return self.usual_extractor
        key = settings.model_dump_json(exclude={"chunking"})
        if key not in self._extractors:
            self._extractors[key], chat = self.open(settings)
            self._chats += [chat] if chat else []
        return self._extractors[key]

    async def close(self) -> None:
        """Close the models that were opened."""
        for chat in self._chats:
            await chat.close()
