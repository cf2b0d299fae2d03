"""Shared values that are read again only after something was written to their bucket."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from runtime.bus.port import SharedValues


@dataclass
class RememberedValues:
    """`SharedValues` as they were when `refresh` was last called, or newer.

    Whoever looks at many values every few seconds asks the bus one question while nothing changes.
    """

    bucket: SharedValues
    _state: Hashable = None
    _read_values: dict[str, tuple[bytes, int]] = field(default_factory=dict[str, tuple[bytes, int]])

    async def refresh(self) -> None:
        """Forget what was read before something was written. Raises `Unavailable`."""
        if (state := await self.bucket.state()) != self._state:
            self._read_values.clear()
            self._state = state

    async def read(self, key: str) -> tuple[bytes, int]:
        if key not in self._read_values:
            self._read_values[key] = await self.bucket.read(key)
        return self._read_values[key]

    async def write(self, key: str, value: bytes, revision: int) -> bool:
        self._read_values.pop(key, None)
        return await self.bucket.write(key, value, revision)

    async def keys(self) -> list[str]:
        return await self.bucket.keys()

    async def state(self) -> Hashable:
        return await self.bucket.state()
