"""What a model reads of a document to judge one sentence."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Excerpt:
    """A sentence with what it is understood by."""

    sentence: str
    headings: str = ""
    """What stands above it, the outermost first."""
    before: str = ""
    """The sentence before it, or the one that announces its list."""
