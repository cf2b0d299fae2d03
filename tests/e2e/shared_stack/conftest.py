"""The stack that the tests of this folder share, one after the other."""

from collections.abc import Generator

import pytest

from tests.support.stack import Stack, running


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A stack whose commands are given in a shell without its settings."""
    with running(tmp_path_factory.mktemp("shared") / "one", MAX_UPLOAD_SIZE="1000000") as stack:
        stack.env.clear()
        yield stack
