"""The indexer's settings: none of its own yet."""

from runtime.settings import Settings


class IndexerSettings(Settings):
    """Where the bus and the stores are, and which model embeds."""
