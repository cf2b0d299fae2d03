"""The stack that the tests of this folder share, one after the other."""

from collections.abc import Generator

import pytest

from tests.support.stack import Stack, running


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A stack whose commands are given in a shell without its settings."""
    folder = tmp_path_factory.mktemp("shared") / "one"
    settings = {
        "MAX_UPLOAD_SIZE": "1000000",
        "RECEIPTS": "off, story=full, erased=full",
        "TOKEN_SECRET": "signs-nothing-here-since-nobody-has-an-account",
    }
    with running(folder, **settings) as stack:
        stack.env.clear()
        yield stack
