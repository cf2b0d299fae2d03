"""Which files of a folder are documents: one answer for the command line and for the scan."""

import stat
from pathlib import Path, PurePosixPath

from runtime.errors import InvalidInput
from runtime.parsing.decoding import looks_like_text
from runtime.parsing.kinds import KINDS, refuse_kind
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

_LOOKED_AT = 4096
"""Bytes at the beginning of a file of an unknown kind that tell whether it is text."""


def is_document(path: Path, services: ParsingServices = OWN_PARSERS) -> bool:
    """Return whether the file is a document: see `why_no_document`."""
    return not why_no_document(path, services)


def why_no_document(path: Path, services: ParsingServices = OWN_PARSERS) -> str:
    """Return why a file is neither of a kind that is read nor text by what it begins with; empty
    for one that is. An empty file is none.

    A file of a known kind that cannot be looked at is one: reading it says why it cannot be read.
    """
    suffix = PurePosixPath(path.name).suffix.lower()
    try:
        if not services.reads(path.name):
            refuse_kind(suffix)
        status = path.stat()
        is_regular = stat.S_ISREG(status.st_mode)
        if is_regular and not status.st_size:
            return "empty"
        if suffix in KINDS or services.reads(path.name):
            return ""
        if not is_regular:
            return "not a regular file"
        with path.open("rb") as file:
            is_text = looks_like_text(file.read(_LOOKED_AT))
        return "" if is_text else "of a kind that is not read, and no text"
    except InvalidInput as error:
        return str(error).partition("; ")[0]  # what is read instead is said once, by the help
    except OSError as error:
        return "" if suffix in KINDS else f"cannot be read: {error.strerror}"
