"""What describing figures may cost: calls, tokens, and the passages that descriptions become."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from contracts.values import Figure, figure_label
from runtime.models.picture_tokens import picture_tokens
from runtime.models.roles import VISION, LanguageModel, language_model
from runtime.parsing.content import FigureFile
from services.chunker.settings import ChunkerSettings
from services.chunker.wiring import description_prompt_tokens

DESCRIPTION_TOKENS = 200
"""Tokens of a description, where none was written yet."""


class EstimatedFigure(NamedTuple):
    """A figure to estimate. `key`: what pictures with the same bytes and caption share; `size`:
    bytes; `width`, `height`: pixels.
    """

    key: str
    caption: str
    size: int
    width: int
    height: int

    @classmethod
    def of(cls, figure: Figure) -> "EstimatedFigure":
        """Return a figure of the log."""
        key = f"{figure.sha256}/{figure.caption}"
        return cls(key, figure.caption, figure.blob.size, figure.width, figure.height)

    @classmethod
    def of_file(cls, figure: FigureFile) -> "EstimatedFigure":
        """Return a figure of a file."""
        key = f"{hashlib.sha256(figure.data).hexdigest()}/{figure.caption}"
        return cls(key, figure.caption, len(figure.data), figure.width, figure.height)


class DescriptionUsage(NamedTuple):
    """Tokens that describing a figure has read and written on average so far."""

    prompt: float
    completion: float


@dataclass
class FigureEstimate:
    """Adds up what the figures of documents may cost, by what they took in the workspace so far
    where that is known. A picture that comes again with its caption costs nothing.
    """

    settings: ChunkerSettings
    count_tokens: Callable[[str], int]
    usual: DescriptionUsage | None = None
    calls: int = 0
    prompt: int = 0
    completion: int = 0
    _seen_keys: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.model: LanguageModel | None = language_model(self.settings, VISION)

    def add(self, figures: Sequence[EstimatedFigure]) -> list[int]:
        """Add the figures of one document that are described, and return the tokens of the
        passages that they become.
        """
        if self.model is None:
            return []
        limits = self.settings.figure_limits
        fitting_figures = [
            figure for figure in figures if limits.fit(figure.size, figure.width, figure.height)
        ][: limits.max_figures]
        description_tokens = round(self.usual.completion) if self.usual else DESCRIPTION_TOKENS
        for figure in fitting_figures:
            if figure.key not in self._seen_keys:
                self._seen_keys.add(figure.key)
                self.calls += 1
                self.prompt += self._prompt_tokens(self.model, figure)
                self.completion += description_tokens
        return [
            description_tokens + self.count_tokens(figure_label(1, item.caption))
            for item in fitting_figures
        ]

    @property
    def basis(self) -> str:
        """Return how figures were counted, in a part of a sentence."""
        source = "the workspace's own so far" if self.usual else "what providers write of pictures"
        return f"; figures are counted by {source}, and one that is described already costs nothing"

    def _prompt_tokens(self, model: LanguageModel, figure: EstimatedFigure) -> int:
        if self.usual:
            return round(self.usual.prompt)
        text_tokens = description_prompt_tokens(
            self.settings.summary_language, figure.caption, self.count_tokens
        )
        return text_tokens + picture_tokens(model, figure.width, figure.height)
