"""Whose receipts a request may read: all of the workspace, those of its own questions, or, where
documents may be hidden from it, those of its own questions that rest on nothing hidden.
"""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from publishing.current_version import is_known
from runtime.bus.port import Log
from runtime.errors import NotFound
from runtime.receipts.reading import StoredReceipt, find_receipt
from services.gateway.auth.permissions import Principal
from services.gateway.auth.viewers import CurrentViewer
from services.gateway.errors import no_document
from services.gateway.receipts.dependencies import ReceiptDeps
from services.gateway.workspaces import Workspace
from services.query.visibility.viewer import Viewer


@dataclass(frozen=True)
class ReceiptReader:
    """Who reads receipts of a workspace.

    `asker`: whose alone, empty for everybody's; `viewer`: who asks, None for someone who sees all
    documents; `documents`: those it sees, None for all.
    """

    workspace: str
    asker: str = ""
    viewer: Viewer | None = None
    documents: frozenset[str] | None = None

    def may_read(self, receipt: StoredReceipt) -> bool:
        """Return whether the reader may see the receipt."""
        if self.asker and receipt.asker != self.asker:
            return False
        if self.viewer is None:
            return True
        asked_for = receipt.event.viewer
        if asked_for is None or _owner(asked_for) != _owner(self.viewer.principals):
            return False
        return self.documents is None or self.documents.issuperset(receipt.event.evidence.documents)

    async def receipt(self, log: Log, id: str) -> StoredReceipt:
        """Return the receipt of this id. Raises NotFound where there is none that may be read."""
        receipt = await find_receipt(log, self.workspace, id)
        if receipt is None or not self.may_read(receipt):
            raise NotFound(
                f"workspace {self.workspace!r} has no receipt {id}: GET /receipts lists them"
            )
        return receipt

    async def refuse_unknown(self, log: Log, document: str) -> None:
        """Raise NotFound for a document that never was, or that the reader does not see."""
        if self.documents is None:
            is_there = await is_known(log, self.workspace, document)
        else:
            is_there = document in self.documents
        if not is_there:
            raise no_document(document)


def _owner(principals: tuple[str, ...]) -> tuple[str, ...]:
    """Return the users among them, whose groups may change; all of them where no user is."""
    users = tuple(name for name in principals if name.startswith("user:"))
    return users or principals


async def receipt_reader(
    request: Request, deps: ReceiptDeps, workspace: Workspace, viewer: CurrentViewer
) -> ReceiptReader:
    """Return whose receipts the request may read."""
    principal: Principal = request.state.principal
    if viewer is None:
        is_writer = principal.permissions.allows("write")
        return ReceiptReader(workspace, "" if is_writer else principal.name)
    visible_documents = await deps.visibility.of(workspace, viewer)
    return ReceiptReader(workspace, principal.name, viewer, visible_documents.restriction)


CurrentReader = Annotated[ReceiptReader, Depends(receipt_reader)]
"""A route that takes it shows receipts that its caller may read alone."""
