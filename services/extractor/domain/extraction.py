"""What an extraction gives."""

from dataclasses import dataclass, field

from contracts.values import ExtractedEntity, ExtractedRelation, TokenUsage


@dataclass(frozen=True)
class Extraction:
    """What a passage says, and what it cost to find out."""

    entities: tuple[ExtractedEntity, ...]
    relations: tuple[ExtractedRelation, ...]
    usage: TokenUsage = field(default_factory=TokenUsage)
