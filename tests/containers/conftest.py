"""The engine and the image of a test run. Images stay below .cache: the next run takes from there what is the same."""

import re
from collections.abc import Generator

import pytest

from tests.architecture.sources import REPOSITORY
from tests.containers.base_images import python_image
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
