"""How batches are made, and which of their calls are still wanted."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.values import DocumentVersion
from runtime.bus.port import DocumentVersions
from runtime.models.batches.records import BatchedCall

SETTLING = 300.0
"""Seconds after which a provider lists a batch that it has: then one whose submission nobody saw
end is looked for. Submitting takes less.
"""

LONGEST_WAIT = 10
"""How many times the seconds between two looks a call waits at most until it is made again."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class BatchRules:
    """How batches are made. Times are seconds."""

    submits: Callable[[str], bool]
    """Whether calls of this workspace go into batches."""
    gather: float = 60.0
    poll: float = 60.0
    settling: float = SETTLING
    are_required: bool = False
    """Whether a model whose provider has no batches is refused."""


@dataclass(frozen=True)
class WantedCalls:
    """Tells which results are there already, by their keys, and which documents are wanted no
    more.
    """

    existing_results: Callable[[str, Sequence[str]], Awaitable[set[str]]]
    versions: DocumentVersions

    async def keys(
        self, workspace: str, calls: Iterable[BatchedCall], *, also_obsolete: bool = False
    ) -> set[str]:
        """Return the keys of those calls whose result is not there yet; `also_obsolete`: even where
        the document wants it no more.
        """
        calls_by_key = {call.key: call for call in calls}
        settled_keys = await self.existing_results(workspace, list(calls_by_key))
        wanted_keys = set[str]()
        for key, call in calls_by_key.items():
            version = DocumentVersion(id=call.document, version=call.version, added_at=EPOCH)
            if key in settled_keys:
                continue
            if also_obsolete or await self.versions.obsolete(workspace, version) is None:
                wanted_keys.add(key)
        return wanted_keys
