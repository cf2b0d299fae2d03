"""How xdist deals tests to its workers: file by file, a folder that shares a stack as if it were one file."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

TOGETHER = ("tests/e2e/shared_stack/", "tests/e2e/killed_processes/")
"""Folders whose tests share a stack, so that one worker runs them all."""


class FolderScheduling(LoadFileScheduling):
    """As `--dist loadfile`, but for the folders whose tests belong together."""

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FolderScheduling | None:
    """Deal in this way where `--dist loadfile` is asked for."""
    return FolderScheduling(config, log) if config.getvalue("dist") == "loadfile" else None
