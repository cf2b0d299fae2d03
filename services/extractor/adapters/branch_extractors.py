"""Gives each workspace the extractor of its settings: a branch may have settings of its own."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from contracts.events import BranchSettings
from contracts.ids import origin_of
from runtime.branches import branch_settings
from runtime.bus.port import Log
from runtime.models.port import Chat
from services.extractor.port import Extractor

PATIENCE = 5.0
PAUSE = 0.5
"""Seconds for which a replica of the log may lag, and between two looks."""

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
    patience: float = PATIENCE
    _no_branches: set[str] = field(default_factory=set[str])
    """Workspaces that are named like a branch and are none."""
    _extractors: dict[str, Extractor] = field(default_factory=dict[str, Extractor])
    _chats: list[Chat] = field(default_factory=list[Chat])

    async def of(self, workspace: str) -> Extractor:
        """Return the extractor of a workspace. Raises `Unavailable`, or ConfigurationError for
        settings that cannot be used.
        """
        settings = await self._settings(workspace)
        if settings is None or not (
            settings.extract_model or settings.prompt or settings.entity_types
        ):
            return self.usual_extractor
        key = settings.model_dump_json(exclude={"chunking"})
        if key not in self._extractors:
            self._extractors[key], chat = self.open(settings)
            self._chats += [chat] if chat else []
        return self._extractors[key]

    async def _settings(self, workspace: str) -> BranchSettings | None:
        """Return the settings of a branch. Its passages come behind its beginning, so where that is
        not there a replica of the log is asked that lags.
        """
        if origin_of(workspace) is None or workspace in self._no_branches:
            return None
        end = time.monotonic() + self.patience
        while (settings := await branch_settings(self.log, workspace)) is None:
            if time.monotonic() >= end:
                self._no_branches.add(workspace)
                return None
            await asyncio.sleep(PAUSE)
        return settings

    async def close(self) -> None:
        """Close the models that were opened."""
        for chat in self._chats:
            await chat.close()
