"""Reading ahead: who writes is not held up by who reads, up to a limit, and both ends are told of
the other's.
"""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from runtime.errors import Unavailable
from services.query.adapters.read_ahead import read_ahead


class Writer:
    """Writes letters, and knows how far it is."""

    def __init__(self, text: str, error: Exception | None = None) -> None:
        self.text, self.error = text, error
        self.written, self.closed = 0, False

    async def pieces(self) -> AsyncGenerator[str]:
        try:
            for letter in self.text:
                await asyncio.sleep(0)
                self.written += 1
                yield letter
            if self.error:
                raise self.error
        finally:
            self.closed = True


async def turns(count: int = 50) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_pieces_come_as_they_were_written() -> None:
    assert [piece async for piece in read_ahead(Writer("answer").pieces(), 3)] == list("answer")


async def test_the_writer_has_finished_though_nobody_reads_on() -> None:
    writer = Writer("the answer")
    ahead = read_ahead(writer.pieces(), 100)
    assert await anext(ahead) == "t"
    await turns()
    assert (writer.written, writer.closed) == (10, True)
    assert "".join([piece async for piece in ahead]) == "he answer"


async def test_it_waits_when_too_much_is_unread() -> None:
    writer = Writer("the answer")
    ahead = read_ahead(writer.pieces(), 4)
    await anext(ahead)
    await turns()
    assert (writer.written, writer.closed) == (4, False)
    await ahead.aclose()
    assert writer.closed


async def test_an_error_comes_behind_what_was_written_before_it() -> None:
    writer = Writer("half", Unavailable("gone"))
    pieces = list[str]()
    with pytest.raises(Unavailable):
        async for piece in read_ahead(writer.pieces(), 100):
            pieces.append(piece)
            await turns()
    assert (pieces, writer.closed) == (list("half"), True)
