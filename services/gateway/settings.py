"""Settings of the gateway and of the webhook sender, from the environment.

Those of access are in `auth/settings.py`, so that no route holds a secret.
"""

import re
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Literal

from pydantic import Field, field_validator

from contracts.ids import WORKSPACE_PATTERN
from runtime.parsing.settings import ParserSettings
from runtime.settings import Settings


class WebhookSettings(Settings):
    """Where webhooks may lead. Their addresses and secrets are on the bus."""

    webhook_allowed_networks: str = Field(
        default="",
        description=(
            "networks such as 10.0.0.0/8, with commas, that webhooks may lead to though private"
        ),
    )

    @cached_property
    def webhook_networks(self) -> list[IPv4Network | IPv6Network]:
        """Private networks that webhooks may lead to."""
        return _networks(self.webhook_allowed_networks)

    @field_validator("webhook_allowed_networks")
    @classmethod
    def _are_networks(cls, text: str) -> str:
        _networks(text)
        return text


class GatewaySettings(WebhookSettings, ParserSettings):
    """Settings of the HTTP API, with LightRAG's names and defaults where it has them."""

    webhook_sender: Literal["embedded", "apart"] = Field(
        default="embedded",
        description="who sends webhooks: this process, or one of its own",
    )
    port: int = Field(default=9621, ge=0, le=65535, description="the API")
    workers: int = Field(
        default=1, ge=1, le=64, description="processes that answer, behind one port"
    )
    workspace: str = Field(default="default", description="workspace of requests that name none")
    min_position_timeout: float = Field(
        default=10.0, ge=0, description="seconds a question waits for its min_position"
    )
    max_upload_size: int = Field(
        default=104857600, ge=1, description="bytes of a file; no more than 50 MiB are read"
    )
    max_graph_nodes: int = Field(default=1000, ge=1, description="nodes that /graphs gives at most")
    max_event_streams: int = Field(
        default=100,
        ge=1,
        description="that /events/stream has open in one process; a quarter of them for one client",
    )
    input_dir: str = Field(
        default="", description="has a folder for each workspace, which /documents/scan reads"
    )
    model_allowed_networks: str = Field(
        default="",
        description=(
            "networks such as 10.0.0.0/8, with commas, with models that may be tried though private"
        ),
    )
    edit_timeout: float = Field(
        default=10.0, ge=0, description="seconds an edit waits for its effect in the graph"
    )
    webui_title: str = Field(default="Lightstream", description="what pages call this deployment")
    webui_description: str = Field(default="", description="what pages say about it")
    ollama_emulating_model_name: str = Field(
        default="lightrag", pattern=r"^[\w.-]+$", description="the model that clients of Ollama see"
    )
    ollama_emulating_model_tag: str = Field(
        default="latest", pattern=r"^[\w.-]+$", description="its tag"
    )

    @cached_property
    def model_networks(self) -> list[IPv4Network | IPv6Network]:
        """Private networks with models that may be tried."""
        return _networks(self.model_allowed_networks)

    @field_validator("model_allowed_networks")
    @classmethod
    def _are_networks_of_models(cls, text: str) -> str:
        _networks(text)
        return text

    @field_validator("workspace")
    @classmethod
    def _names_a_workspace(cls, name: str) -> str:
        if not re.match(WORKSPACE_PATTERN, name):
            raise ValueError(
                "must be letters, digits, '_', '.' and '-', at most 64, beginning with one of the "
                "former two"
            )
        return name


def _networks(text: str) -> list[IPv4Network | IPv6Network]:
    """Return the networks between commas. Raises ValueError for what is none."""
    try:
        return [ip_network(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ValueError(f"{error}: give some as 10.0.0.0/8, with commas between") from None
