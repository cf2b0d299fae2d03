"""How xdist deals tests to its workers: file by file, what takes longest first, a folder with one
stack as one file.
"""

from typing import Any

import pytest
from _pytest.nodeid import NodeId
from xdist.scheduler import LoadFileScheduling

TOGETHER = (
    "tests/e2e/shared_stack/",
    "tests/e2e/killed_processes/",
    "tests/e2e/own_page/",
    "tests/e2e/cases/",
)
"""Folders whose tests share a stack, so that one worker runs them all."""

FIRST = (
    "tests/e2e/shared_stack/",
    "tests/e2e/killed_processes/",
    "tests/e2e/test_production_stores.py",
    "tests/e2e/test_rebuild.py",
    "tests/e2e/outages/",
    "tests/e2e/test_web_page.py",
    "tests/e2e/own_page/",
    "tests/e2e/test_upgrades.py",
    "tests/e2e/cases/",
    "tests/e2e/",
    "tests/integration/test_full_disk.py",
    "tests/integration/test_killed_erasure.py",
    "tests/contract/test_checkpoints.py",
    "tests/contract/test_bus",
    "tests/integration/test_deploy",
    "tests/integration/test_bus_permissions.py",
    "tests/integration/test_nats_cluster.py",
    "tests/unit/pipeline/test_simulation.py",
    "tests/unit/gateway/test_described_routes.py",
    "tests/architecture/test_import_rules.py",
)
"""What takes longest (`pytest --durations=0` tells), so that no worker is at it when the others
have nothing left to do.
"""


def together(nodeid: str) -> str:
    """Return what one worker runs as a whole with this test: its file, or its folder."""
    file = nodeid.partition("::")[0]
    return next((folder for folder in TOGETHER if nodeid.startswith(folder)), file)


class FolderScheduling(LoadFileScheduling):
    """As `--dist loadfile`, but for the folders whose tests belong together."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid)

    def _reschedule(self, node: Any) -> None:
        """Give a worker its next file with the last test of one, for which it must know what
        follows.

        As xdist does it, the file would be given with two tests left, which may take minutes while
        other workers have nothing to do.
        """
        if not self.workqueue or self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes longest first; files and tests keep their order otherwise."""
    for item in items:
        _tell_apart(item)

    def place(item: pytest.Item) -> int:
        return next(
            (number for number, name in enumerate(FIRST) if item.nodeid.startswith(name)),
            len(FIRST),
        )

    items.sort(key=place)


def _tell_apart(item: pytest.Item) -> None:
    """Give a test of schemathesis the route it is of in its id.

    schemathesis 4.32 under pytest 9.2 gives those of all routes one id, and of each id xdist runs
    one test.
    """
    if item.name.endswith("]") and not item.nodeid.endswith(item.name):
        item._id = NodeId.parse(item.nodeid + item.name[item.name.index("[") :])  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FolderScheduling | None:
    """Deal in this way where `--dist loadfile` is asked for."""
    return FolderScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
