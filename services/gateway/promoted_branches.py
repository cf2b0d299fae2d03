"""Says which workspace is read in place of the one that is asked: a branch of it that was promoted,
or itself. Every reader of a workspace as it is passes here.
"""

from dataclasses import dataclass, field
from typing import Annotated

from cachetools import TTLCache
from fastapi import Depends

from contracts.ids import branch_workspace, origin_of
from runtime.branches import promoted_branch
from runtime.bus.port import Log
from services.gateway.dependencies import depends_on
from services.gateway.workspaces import Workspace

MAX_WORKSPACES = 10_000
"""Workspaces that are kept in memory."""

KEPT_SECONDS = 1.0
"""For so long a promotion may go unnoticed: questions do not ask the log each."""


@dataclass
class PromotedBranches:
    """Reads promotions from the log. A branch that is asked by its own name answers itself."""

    log: Log
    _answering: TTLCache[str, str] = field(
        default_factory=lambda: TTLCache(MAX_WORKSPACES, KEPT_SECONDS)
    )

    async def answering(self, workspace: str) -> str:
        """Return the workspace that answers questions to this one. Raises `Unavailable`."""
        if origin_of(workspace):
            return workspace
        answering = self._answering.get(workspace)
        if answering is None:
            name = await promoted_branch(self.log, workspace)
            answering = branch_workspace(workspace, name) if name else workspace
            self._answering[workspace] = answering
        return answering


async def read_workspace(
    workspace: Workspace, branches: Annotated[PromotedBranches, depends_on(PromotedBranches)]
) -> str:
    """Return the workspace that a request reads as it is. Whoever may read a workspace may read
    its branches, too, and in them sees the same documents. Raises `Unavailable`.
    """
    return await branches.answering(workspace)


ReadWorkspace = Annotated[str, Depends(read_workspace)]
"""What a route reads of graph and passages as they are. Documents, their status and edits are those
of `Workspace`.
"""
