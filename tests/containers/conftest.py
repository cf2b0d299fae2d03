"""The engine and the image of a test run. Images stay below .cache: the next run takes from there
what is the same.
"""

import re
from collections.abc import AsyncIterator, Generator

import pytest
import pytest_asyncio

from tests.architecture.sources import REPOSITORY
from tests.containers.base_images import python_image
from tests.containers.deployment import Deployment, deployment
from tests.containers.engine import Engine
from tests.containers.engine import engine as opened_engine

IMAGE = "localhost/lightstream:0.1.0"


@pytest.fixture(scope="session")
def engine() -> Generator[Engine]:
    with opened_engine() as engine:
        yield engine


@pytest.fixture(scope="session")
def image(engine: Engine) -> str:
    """The image, built by `make image` from the sources as they are."""
    dockerfile = (REPOSITORY / "deploy/Dockerfile").read_text("utf-8")
    base = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", dockerfile, re.MULTILINE)
    assert base
    python_image(engine, base[1])
    engine.make_image()
    return IMAGE


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def installation(
    engine: Engine,
    image: str,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncIterator[Deployment]:
    """The deployment, up and healthy, with the files beside docker-compose.yml that a module asks
    for by a parameter.

    Nothing is left of it in the end.
    """
    assert image
    result = deployment(
        engine, tmp_path_factory.mktemp("deployment"), *getattr(request, "param", ())
    )
    result.down(volumes=True)
    try:
        await result.up()
        yield result
    finally:
        result.down(volumes=True)
