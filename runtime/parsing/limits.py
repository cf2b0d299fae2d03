"""What the child processes of the parsers may use."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Bytes of address space, and seconds of a processor."""

    memory: int
    cpu: int

    @property
    def megabytes(self) -> int:
        """Return the memory in mebibytes, for messages."""
        return self.memory // 2**20


PARSING = Limits(2**30, 60)
"""Of a child that reads a file."""

RECOGNIZING = Limits(2 * 2**30, 120)
"""Of one that recognizes a page: that takes half a gigabyte and ten seconds or twenty. The rest is
address space that is reserved and not used.
"""
