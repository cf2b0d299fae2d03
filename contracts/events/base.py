"""What the bodies of all events are."""

from typing import ClassVar, Literal

from contracts.values import Value

Stage = Literal["chunker", "extractor", "merger", "indexer", "query"]


class Event(Value):
    """The body of one event."""

    version: ClassVar[int] = 1

    @classmethod
    def type_name(cls) -> str:
        """The event's name in subjects and file names: `DocumentAdded`."""
        return cls.__name__

    @property
    def aggregate_id(self) -> str:
        """The document (or `_graph`, `_sum-…`) in whose history this event stands."""
        raise NotImplementedError

    @property
    def ordinal(self) -> int:
        """Tells apart the events of one type that one cause gives rise to; part of the derived
        id.
        """
        return 0
