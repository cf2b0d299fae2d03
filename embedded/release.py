"""The release that used a data folder last: an older one refuses it before it starts anything over
it.

It stands in a file of its own, which older releases leave alone.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from embedded.data_folder import DataFolder, newer_release
from runtime.stores.documents import schema
from runtime.version import VERSION

RELEASE_FILE = "release.json"


@dataclass(frozen=True)
class Release:
    """The release of the program, and the schema of its stores."""

    release: str = VERSION
    schema: int = schema.VERSION


def enter_release(folder: DataFolder) -> None:
    """Record that this release uses the folder. Raises NewerRelease where one with a newer schema
    has used it.
    """
    path = folder.path / RELEASE_FILE
    with suppress(FileNotFoundError, ValueError, TypeError, AttributeError):
        before = json.loads(path.read_text("utf-8"))
        if int(before.get("schema", 0)) > schema.VERSION:
            raise newer_release(folder.path, str(before.get("release", "")))
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(asdict(Release())) + "\n", "utf-8")
    draft.replace(path)
