"""The stack that the tests of this folder share, one after the other: with Milvus Lite, which no
other has.
"""

from collections.abc import Generator

import pytest

from tests.support.stack import Stack, running


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    with running(tmp_path_factory.mktemp("killed") / "data", "--vectors", "milvus") as stack:
        yield stack
