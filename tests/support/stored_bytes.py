"""The bytes that lie in a folder, readable: files as they are, and what nats-server has compressed
in them.
"""

from collections.abc import Iterator
from pathlib import Path

COMPRESSED_BLOCK = b"cmp"
"""How a compressed file of messages begins; one byte for the method and the original size
follow.
"""

CHECKSUM = 8
"""Bytes at the end of a block that are not compressed."""

_CHUNK_COMPRESSED = 0x00
_CHUNK_PLAIN = 0x01


def files_with(folder: Path, needle: bytes) -> list[str]:
    """The files below the folder that hold these bytes, as they lie there or compressed."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and any(needle in content for content in contents(path))
    )


def contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what they are when decompressed."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # servers make and remove files
        return
    yield data
    if data.startswith(COMPRESSED_BLOCK):
        yield decompressed_block(data)


def decompressed_block(data: bytes) -> bytes:
    """The messages of a compressed file of nats-server: a stream of the format S2 behind the head
    of the file.
    """
    _, at = _number(data, 4)
    out = b""
    while at < len(data) - CHECKSUM:
        kind = data[at]
        length = int.from_bytes(data[at + 1 : at + 4], "little")
        body = data[at + 4 : at + 4 + length]
        at = at + 4 + length
        if kind == _CHUNK_COMPRESSED:
            out += decompressed(body[4:])  # behind the checksum
        elif kind == _CHUNK_PLAIN:
            out += body[4:]
    return out


def decompressed(data: bytes) -> bytes:
    """One block of S2: literals, and copies of what came before, of which one may repeat the last
    distance.
    """
    size, at = _number(data, 0)
    out = bytearray()
    distance = 0
    while at < len(data):
        tag = data[at]
        if tag & 3 == 0:
            length, at = _literal_length(data, at)
            out += data[at : at + length]
            at += length
            continue
        length, result, at = _copy(data, at)
        distance = result or distance
        piece = bytes(
            out[-distance:] if length >= distance else out[-distance : len(out) - distance + length]
        )
        out += (piece * (length // distance + 1))[:length]
    assert len(out) == size, (len(out), size)
    return bytes(out)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift = shift + 7
        at = at + 1
        if data[at - 1] < 0x80:
            return value, at


def _literal_length(data: bytes, at: int) -> tuple[int, int]:
    length = data[at] >> 2
    at = at + 1
    if length < 60:
        return length + 1, at
    count = length - 59
    return int.from_bytes(data[at : at + count], "little") + 1, at + count


def _copy(data: bytes, at: int) -> tuple[int, int, int]:
    """Length and distance of a copy (0: the distance of the one before), and where it ends."""
    tag = data[at]
    if tag & 3 == 2:
        return (tag >> 2) + 1, int.from_bytes(data[at + 1 : at + 3], "little"), at + 3
    if tag & 3 == 3:
        return (tag >> 2) + 1, int.from_bytes(data[at + 1 : at + 5], "little"), at + 5
    length = (tag >> 2) & 7
    distance = (tag >> 5) << 8 | data[at + 1]
    at = at + 2
    if distance or length < 5:
        return length + 4, distance, at
    count, least = {5: (1, 8), 6: (2, 260), 7: (3, 65540)}[length]
    return int.from_bytes(data[at : at + count], "little") + least, 0, at + count
