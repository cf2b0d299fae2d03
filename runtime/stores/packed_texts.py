"""Texts as fewer bytes, for files of SQLite: pages of these are small, and a row that is half as
long leaves room for another on its page.

What is packed is of bytes, anything else is text, as older programs wrote all of it. The first byte
tells how: most lists name chunks, whose ids are mostly hexadecimal digits, and other texts are
compressed where that is shorter.
"""

import re
import zlib
from collections.abc import Sequence
from sys import intern

import orjson

Packed = str | bytes

COMPRESSED_FROM = 80
"""Bytes from which on a text is compressed: below, it would save too little."""

_DEFLATED = b"z"
_CHUNKS = b"c"
_CHUNK = re.compile(r"doc-([0-9a-f]{32})-chunk-([0-9]{3}|[1-9][0-9]{3})")
_CHUNK_BYTES = 18
"""Bytes of a chunk: 16 of its document, two of its place there."""
_ID = re.compile(r"(ent-|rel-)([0-9a-f]{40})")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def packed_text(text: str) -> Packed:
    """Return the text, compressed where that is shorter."""
    content = text.encode()
    if len(content) < COMPRESSED_FROM:
        return text
    compressor = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
    packed = b"".join((_DEFLATED, compressor.compress(content), compressor.flush()))
    return packed if len(packed) < len(content) else text


def unpacked_text(packed: Packed) -> str:
    """Return the text that `packed_text` made this of."""
    if isinstance(packed, str):
        return packed
    return zlib.decompress(memoryview(packed)[1:], -zlib.MAX_WBITS).decode()


def packed_list(texts: Sequence[str]) -> Packed:
    """Return a list of texts: of ids of chunks their bytes, any other as JSON."""
    chunks = [_CHUNK.fullmatch(text) for text in texts]
    places = [(chunk[1], int(chunk[2])) for chunk in chunks if chunk]
    if not texts or len(places) < len(texts):
        return packed_text(orjson.dumps(texts).decode())
    content = b"".join(
        bytes.fromhex(document) + place.to_bytes(2, "big") for document, place in places
    )
    return _CHUNKS + content


def unpacked_list(packed: Packed) -> tuple[str, ...]:
    """Return the list that `packed_list` made this of."""
    if isinstance(packed, str) or packed[:1] == _DEFLATED:
        texts = orjson.loads(unpacked_text(packed))
    else:
        texts = [
            f"doc-{packed[start : start + 16].hex()}"
            f"-chunk-{int.from_bytes(packed[start + 16 : start + _CHUNK_BYTES], 'big'):03d}"
            for start in range(1, len(packed), _CHUNK_BYTES)
        ]
    # Interned: a chunk and its file are named by some fifty entities and relations, which questions
    # keep in memory (decision 25).
    return tuple(map(intern, texts))


def packed_id(id: str) -> Packed:
    """Return the id of a vector: of an entity or a relation its kind and the bytes of its hash."""
    of_graph = _ID.fullmatch(id)
    return of_graph[1][:1].encode() + bytes.fromhex(of_graph[2]) if of_graph else id


def unpacked_id(packed: Packed) -> str:
    """Return the id that `packed_id` made this of."""
    if isinstance(packed, str):
        return packed
    return f"{'ent' if packed[:1] == b'e' else 'rel'}-{packed[1:].hex()}"


def packed_digest(digest: str) -> Packed:
    """Return a hash: of 64 hexadecimal digits the 32 bytes."""
    return bytes.fromhex(digest) if _DIGEST.fullmatch(digest) else digest


def unpacked_digest(packed: Packed) -> str:
    """Return the hash that `packed_digest` made this of."""
    return packed if isinstance(packed, str) else packed.hex()
