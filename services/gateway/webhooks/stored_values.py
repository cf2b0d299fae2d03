"""Writes values of webhooks on the bus whatever others wrote meanwhile."""

from runtime.bus.port import SharedValues


async def replace_value(values: SharedValues, key: str, value: bytes) -> None:
    """Store the value under the key; an empty one removes it. Raises `Unavailable`."""
    is_written = False
    while not is_written:
        _, revision = await values.read(key)
        is_written = await values.write(key, value, revision)
