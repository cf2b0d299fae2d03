"""The stack that the tests of this folder share, one after the other: its graph and its vectors
have servers of their own.
"""

from collections.abc import Generator

import pytest

from tests.support.stack import Stack, running

SERVERS = ("--graph", "arcadedb", "--vectors", "milvus")


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    with running(tmp_path_factory.mktemp("killed") / "data", *SERVERS) as stack:
        yield stack
