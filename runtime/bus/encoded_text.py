"""A text as the log and the store of long texts take it: as bytes, with their hash."""

import hashlib
from dataclasses import dataclass, field

from contracts.topology import KiB
from contracts.values import BlobRef

BLOB_PART = 512 * KiB
"""Bytes of one part of a long text."""


@dataclass(frozen=True)
class EncodedText:
    """The UTF-8 bytes of a text and their SHA-256, in hexadecimal digits."""

    data: bytes = field(repr=False)
    sha256: str

    @classmethod
    def of(cls, text: str) -> "EncodedText":
        """Return the text encoded and hashed. Raises UnicodeError for lone surrogates."""
        return cls.of_bytes(text.encode())

    @classmethod
    def of_bytes(cls, data: bytes) -> "EncodedText":
        """Return bytes that stand beside the log as texts do: those of a file."""
        return cls(data, hashlib.sha256(data).hexdigest())

    def reference(self, place: str | None = None) -> BlobRef:
        """Return the reference to the text, stored at that place."""
        return BlobRef(
            sha256=self.sha256,
            size=len(self.data),
            parts=max(1, -(-len(self.data) // BLOB_PART)),
            place=place,
        )
