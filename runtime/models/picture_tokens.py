"""Tokens that a picture is counted as, by what providers write of it: for estimates."""

from math import ceil

from runtime.models.roles import LanguageModel

_CLAUDE_SIDE = 1568
_CLAUDE_PIXELS = 750
"""Longest side in pixels, and pixels of a token: Anthropic, and others that say nothing."""

_GPT_SQUARE = 2048
_GPT_SIDE = 768
_GPT_TILE = 512
_GPT_TOKENS = (85, 170)
_GPT_MINI = "gpt-4o-mini"
_GPT_MINI_TOKENS = (2833, 5667)
"""OpenAI: the square that a picture is fitted into, its shorter side then, the side of a tile, and
tokens of a picture and of each tile.
"""

_GEMINI_SMALL = 384
_GEMINI_TILE = 768
_GEMINI_TOKENS = 258


def picture_tokens(model: LanguageModel, width: int, height: int) -> int:
    """Return about how many tokens of a prompt a picture of these pixels is."""
    if model.binding in ("openai", "azure_openai"):
        return _gpt_tokens(model.model, width, height)
    if model.binding == "gemini":
        tiles = ceil(width / _GEMINI_TILE) * ceil(height / _GEMINI_TILE)
        return _GEMINI_TOKENS * (1 if max(width, height) <= _GEMINI_SMALL else tiles)
    share = min(1.0, _CLAUDE_SIDE / max(width, height))
    return ceil(width * share * height * share / _CLAUDE_PIXELS)


def _gpt_tokens(model: str, width: int, height: int) -> int:
    share = min(1.0, _GPT_SQUARE / max(width, height))
    share = min(share, _GPT_SIDE / min(width, height))
    tiles = ceil(width * share / _GPT_TILE) * ceil(height * share / _GPT_TILE)
    picture, tile = _GPT_MINI_TOKENS if _GPT_MINI in model else _GPT_TOKENS
    return picture + tile * tiles
