"""The result of an extraction."""

from dataclasses import dataclass, field

from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage


@dataclass(frozen=True)
class Extraction:
    """The entities and relations of a passage, and the tokens that it took to find them."""

    entities: tuple[ExtractedEntity, ...]
    relations: tuple[ExtractedRelation, ...]
    usage: TokenUsage = field(default_factory=TokenUsage)
    payer: str = ""
    """The version of the chunk that it was paid for; empty when it was read from the log."""
    warnings: tuple[str, ...] = ()
    """What it may lack, in sentences for the document's reader."""
