"""Says which workspace answers questions: a branch that was promoted, or the one that is asked."""

import time
from dataclasses import dataclass, field

from contracts.ids import branch_workspace, origin_of
from runtime.branches import promoted_branch
from runtime.bus.port import Log

MAX_WORKSPACES = 10_000
"""Workspaces that are kept in memory."""

KEPT_SECONDS = 1.0
"""For so long a promotion may go unnoticed: questions do not ask the log each."""


@dataclass
class PromotedBranches:
    """Reads promotions from the log. A branch that is asked by its own name answers itself."""

    log: Log
    _answering: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])

    async def answering(self, workspace: str) -> str:
        """Return the workspace that answers questions to this one. Raises `Unavailable`."""
        if origin_of(workspace):
            return workspace
        moment = time.monotonic()
        read_at, answering = self._answering.get(workspace, (0.0, ""))
        if not answering or moment - read_at > KEPT_SECONDS:
            name = await promoted_branch(self.log, workspace)
            answering = branch_workspace(workspace, name) if name else workspace
            if len(self._answering) >= MAX_WORKSPACES:
                self._answering.clear()
            self._answering[workspace] = moment, answering
        return answering
