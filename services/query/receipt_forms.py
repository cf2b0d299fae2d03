"""The form in which answers of each workspace are recorded, as the setting RECEIPTS has it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from contracts.ids import WORKSPACE_PATTERN, origin_of

RecordedForm = Literal["hashes", "full"]

_FORMS: Mapping[str, RecordedForm | None] = {"off": None, "hashes": "hashes", "full": "full"}


@dataclass(frozen=True)
class ReceiptForms:
    """The form of every workspace, and that of those which have another; None: none is recorded."""

    default: RecordedForm | None = None
    of_workspaces: Mapping[str, RecordedForm | None] = field(
        default_factory=dict[str, RecordedForm | None]
    )

    def of(self, workspace: str) -> RecordedForm | None:
        """Return the form of a workspace's receipts, None where there are none. A branch has that
        of its origin.
        """
        origin = origin_of(workspace) or workspace
        return self.of_workspaces.get(workspace, self.of_workspaces.get(origin, self.default))

    def __bool__(self) -> bool:
        return bool(self.default or any(self.of_workspaces.values()))


def parse_receipt_forms(text: str) -> ReceiptForms:
    """Return the forms in a text such as `off` or `hashes, legal=full`. Raises ValueError with the
    reason.
    """
    default: RecordedForm | None = None
    of_workspaces: dict[str, RecordedForm | None] = {}
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    for number, entry in enumerate(entries):
        workspace, separator, form = entry.rpartition("=")
        if form.strip() not in _FORMS or (not separator and number):
            raise ValueError(
                "must be off, hashes or full, and behind it what single workspaces have: "
                "`off, legal=full`"
            )
        if not separator:
            default = _FORMS[form.strip()]
        elif not re.match(WORKSPACE_PATTERN, workspace.strip()):
            raise ValueError(f"{workspace.strip()!r:.80} is no name of a workspace")
        else:
            of_workspaces[workspace.strip()] = _FORMS[form.strip()]
    return ReceiptForms(default, of_workspaces)
