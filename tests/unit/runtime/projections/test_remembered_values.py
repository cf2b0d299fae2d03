"""Values of a bucket are read again only when something was written to it."""

from collections import Counter

from runtime.bus.memory import MemorySharedValues
from runtime.projections.remembered_values import RememberedValues


class CountedValues(MemorySharedValues):
    """Counts how often each key is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = Counter[str]()

    async def read(self, key: str) -> tuple[bytes, int]:
        self.reads[key] += 1
        return await super().read(key)


async def test_what_nobody_wrote_is_read_once() -> None:
    bucket = CountedValues()
    await bucket.write("mark", b"7", 0)
    remembered_values = RememberedValues(bucket)
    for _ in range(5):
        await remembered_values.refresh()
        assert await remembered_values.read("mark") == (b"7", 1)
        assert await remembered_values.read("note") == (b"", 0)
    assert bucket.reads == {"mark": 1, "note": 1}


async def test_what_another_process_wrote_is_seen_after_the_next_refresh() -> None:
    bucket = CountedValues()
    remembered_values = RememberedValues(bucket)
    await remembered_values.refresh()
    assert await remembered_values.read("mark") == (b"", 0)
    await bucket.write("mark", b"8", 0)
    await remembered_values.refresh()
    assert await remembered_values.read("mark") == (b"8", 1)


async def test_what_was_written_here_is_read_as_it_stands() -> None:
    bucket = CountedValues()
    remembered_values = RememberedValues(bucket)
    await remembered_values.refresh()
    assert await remembered_values.read("mark") == (b"", 0)
    assert await remembered_values.write("mark", b"9", 0)
    assert await remembered_values.read("mark") == (b"9", 1)
    assert not await remembered_values.write("mark", b"10", 0)
    assert await remembered_values.read("mark") == (b"9", 1)
