"""Sentences for what a file system refuses: a read-only folder, no space, no right, a file in the
place of a folder.
"""

import errno
from collections.abc import Generator
from contextlib import contextmanager

from runtime.errors import ConfigurationError

OTHER_FOLDER = "or choose another folder with --data"

_SENTENCES = {
    errno.EROFS: ("its file system is read-only", f"make it writable, {OTHER_FOLDER}"),
    errno.EACCES: ("this user may not use it", f"give this user the right to it, {OTHER_FOLDER}"),
    errno.EPERM: ("this user may not use it", f"give this user the right to it, {OTHER_FOLDER}"),
    errno.ENOSPC: ("no space is left there", f"make room, {OTHER_FOLDER}"),
    errno.EDQUOT: ("this user may not store more there", f"make room, {OTHER_FOLDER}"),
    errno.ENOTDIR: (
        "a part of this path is a file, not a folder",
        f"move that file away, {OTHER_FOLDER}",
    ),
    errno.EEXIST: (
        "there is a file where a folder is expected",
        f"move that file away, {OTHER_FOLDER}",
    ),
    errno.EISDIR: (
        "there is a folder where a file is expected",
        f"move that folder away, {OTHER_FOLDER}",
    ),
    errno.ELOOP: ("its links lead in a circle", f"mend the links, {OTHER_FOLDER}"),
    errno.ENAMETOOLONG: ("the path is too long", "choose a shorter one with --data"),
    errno.EMFILE: ("this process has too many files open", "raise the limit (`ulimit -n`)"),
    errno.EIO: ("the disk gives an error", f"look at the system's log, {OTHER_FOLDER}"),
}


def describe_folder_error(error: OSError) -> str:
    """Return what the file system refused, and the way out."""
    path = error.filename2 or error.filename
    place = str(path) if isinstance(path, str) else "a file cannot be used"
    if error.errno in _SENTENCES:
        cause, way_out = _SENTENCES[error.errno]
        return f"{place}: {cause}; {way_out}"
    return f"{place}: {error.strerror or type(error).__name__}"


@contextmanager
def folder_errors() -> Generator[None]:
    """Raises ConfigurationError with a sentence for an error of the file system inside the
    block.
    """
    try:
        yield
    except OSError as error:
        raise ConfigurationError(describe_folder_error(error)) from error
