"""One stack at a provider that misbehaves by marker words, which all cases share."""

from collections.abc import Generator

import pytest

from tests.support.misbehaving_provider import MisbehavingProvider, serving
from tests.support.stack import Stack, running


@pytest.fixture(scope="package")
def provider() -> Generator[MisbehavingProvider]:
    with serving() as provider:
        yield provider


@pytest.fixture(scope="package")
def stack(
    tmp_path_factory: pytest.TempPathFactory, provider: MisbehavingProvider
) -> Generator[Stack]:
    """A stack that asks many texts at once, so that cases which are tried again wait for nobody."""
    settings = {"LLM_MAX_ASYNC": "32", "LLM_TIMEOUT": "60", **provider.environment()}
    with running(tmp_path_factory.mktemp("cases") / "data", **settings) as stack:
        yield stack
