"""Answers of `/health` and `/ui/customization`, in LightRAG's shapes."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Health(BaseModel):
    """The health of the service. Callers that are not signed in get the first five fields only."""

    model_config = ConfigDict(extra="allow")

    status: Literal["healthy"]
    auth_mode: Literal["enabled", "disabled"]
    core_version: str
    api_version: str
    pipeline_busy: bool
    workspace: str = ""
    budget_exceeded: str | None = Field(
        default=None, description="why extraction waits for the workspace's budget"
    )
    configuration: dict[str, Any] = Field(default={}, description="models, limits and stores")


class Brand(BaseModel):
    """The title and description of this deployment, for web pages."""

    title: str
    description: str


class Customization(BaseModel):
    """The name that web pages show for this deployment."""

    customized: bool
    brand: Brand
