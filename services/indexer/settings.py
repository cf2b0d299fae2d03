"""The indexer's settings."""

from pydantic import Field

from runtime.settings import Settings


class IndexerSettings(Settings):
    """Where the bus and the stores are, and which model embeds."""

    index_rest_seconds: float = Field(
        default=2.0,
        ge=0,
        le=600,
        description=(
            "seconds that changes of entities and relations wait at most, under load, for further "
            "ones, so that each is embedded once"
        ),
    )
