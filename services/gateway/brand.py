"""What web pages call this deployment."""

from typing import NamedTuple

from fastapi import FastAPI

from services.gateway.dependencies import provided


class Brand(NamedTuple):
    """A title and a description; None where not set."""

    title: str | None = None
    description: str | None = None


def brand_of(app: FastAPI) -> Brand:
    """Return what the pages of an application show; nothing before the service is wired."""
    return provided(app, Brand) or Brand()
