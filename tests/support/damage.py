"""Damage to the files of a stream of a nats-server that was killed: what a disk does, or a copy
that was cut short.
"""

from pathlib import Path

from tests.support.nats_server import RunningNats


def blocks(server: RunningNats, stream: str = "KB_EVENTS") -> list[Path]:
    """The files that hold a stream's messages, in order."""
    folder = server.folder / "jetstream" / "jetstream" / "$G" / "streams" / stream / "msgs"
    return sorted(folder.glob("*.blk"), key=lambda path: int(path.stem))


def flip_a_bit(server: RunningNats, place: float = 0.5) -> None:
    """One bit of the last block, at that part of its length."""
    path = blocks(server)[-1]
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 1
    path.write_bytes(bytes(data))


def cut_the_tail(server: RunningNats, part: float = 0.3) -> None:
    """The last part of the last block."""
    path = blocks(server)[-1]
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * (1 - part))])
