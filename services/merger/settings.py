"""The merger's knobs: none of its own yet."""

from runtime.settings import Settings


class MergerSettings(Settings):
    """Where the bus and the stores are."""
