"""Which files of a folder are documents: one answer for the command line and for the scan."""

import stat
from pathlib import Path, PurePosixPath

from runtime.errors import InvalidInput
from runtime.parsing.decoding import looks_like_text
from runtime.parsing.kinds import KINDS, refuse_kind

_LOOKED_AT = 4096
"""Bytes at the beginning of a file of an unknown kind that tell whether it is text."""


def is_document(path: Path) -> bool:
    """Return whether the file is of a kind that is read, or text by what it begins with. Empty
    files are not.

    A file of a known kind that cannot be looked at is one: reading it says why it cannot be read.
    """
    suffix = PurePosixPath(path.name).suffix.lower()
    try:
        refuse_kind(suffix)
        status = path.stat()
        if suffix in KINDS:
            return status.st_size > 0 or not stat.S_ISREG(status.st_mode)
        if not stat.S_ISREG(status.st_mode) or not status.st_size:
            return False
        with path.open("rb") as file:
            return looks_like_text(file.read(_LOOKED_AT))
    except InvalidInput:
        return False
    except OSError:
        return suffix in KINDS
