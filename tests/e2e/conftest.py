"""What end-to-end tests share: commands that fork from one process of the run, and a browser for
each file.
"""

from collections.abc import Generator
from functools import partial

import pytest
from playwright.sync_api import Browser

from embedded.processes import start_program
from tests.support import commands, hosted, services
from tests.support.chromium import browsing
from tests.support.shared_servers import SharedServers
from tests.support.stack import Stack


@pytest.fixture(scope="session", autouse=True)
def forked_commands(shared_servers: SharedServers) -> Generator[None]:
    """Give commands without the time that their imports take."""
    commands.give = commands.Forked(shared_servers)
    commands.beginning = partial(commands.forking, shared_servers, "cli")
    services.launch = hosted.launcher(partial(commands.host, shared_servers))
    yield
    commands.give, services.launch = commands.as_program, start_program
    commands.beginning = commands.installed


@pytest.fixture(scope="module")
def browser(stack: Stack) -> Generator[Browser]:
    """A browser for the file's stack. Its event loop would be in the way of other files' tests."""
    with browsing() as browser:
        yield browser
