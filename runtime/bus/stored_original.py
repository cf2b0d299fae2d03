"""What every message that stands for one of the log says of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from runtime.bus.port import Message


@dataclass
class StoredOriginal:
    """A message of the log that is handled once more, by other means than its consumer's
    delivery.
    """

    original: Message

    @property
    def data(self) -> bytes:
        return self.original.data

    @property
    def subject(self) -> str:
        return self.original.subject

    @property
    def headers(self) -> Mapping[str, str]:
        return self.original.headers

    @property
    def sequence(self) -> int:
        return self.original.sequence

    @property
    def published_at(self) -> datetime:
        return self.original.published_at
