"""Keys of cached embeddings: of a model, the length of its vectors, and a text."""

from base64 import urlsafe_b64encode
from hashlib import sha256


def embedding_key(model: str, dimension: int, text: str) -> str:
    """Return the key: 128 bits of a hash in 23 characters, which sort behind every older key.

    Keys are random, so each that is written changes a page of the store's index. A third as long,
    they change half.
    """
    return "k" + urlsafe_b64encode(_hash(model, dimension, text)[:16]).decode()[:22]


def older_embedding_key(model: str, dimension: int, text: str) -> str:
    """Return the key that an older version cached the embedding under: the whole hash in
    hexadecimal.
    """
    return _hash(model, dimension, text).hex()


def is_older(key: str) -> bool:
    """Return whether an older version made the key."""
    return not key.startswith("k")


def _hash(model: str, dimension: int, text: str) -> bytes:
    return sha256(f"{model}\x1f{dimension}\x1f{text}".encode("utf-8", "replace")).digest()
