"""What `/health` and `/ui/customization` answer, in LightRAG's shapes."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Health(BaseModel):
    """Whether the service answers. A stranger sees the first five fields only."""

    model_config = ConfigDict(extra="allow")

    status: Literal["healthy"]
    auth_mode: Literal["enabled", "disabled"]
    core_version: str
    api_version: str
    pipeline_busy: bool
    workspace: str = ""
    configuration: dict[str, Any] = Field(default={}, description="models, limits and stores")


class Brand(BaseModel):
    """What pages call this deployment."""

    title: str
    description: str


class Customization(BaseModel):
    """What pages show as the name of this deployment."""

    customized: bool
    brand: Brand
