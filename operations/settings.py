"""Settings of the command line."""

from pydantic import AliasChoices, Field, SecretStr, field_validator

from runtime.settings import Settings
from runtime.variables import http_address


class CommandSettings(Settings):
    """Addresses of the bus, the stores and the query service of a deployment, and its embedding
    model.
    """

    lightstream_api_url: str = Field(
        default="http://127.0.0.1:9621", description="the query service"
    )
    lightstream_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("LIGHTSTREAM_API_KEY", "LIGHTRAG_API_KEY"),
        description="what commands send to the query service",
    )
    lightstream_api_token: SecretStr = Field(
        default=SecretStr(""), description="a login's token, sent beside or instead of a key"
    )
    lightstream_workspace: str = Field(
        default="default", description="the tenant, where --workspace names none"
    )
    lightstream_actor: str = Field(
        default="",
        description=(
            "in whose name commands and the Python client publish, never a secret; empty: os:<user>"
        ),
    )
    milvus_services_token: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "account `user:password` that `stores apply` makes in Milvus for the services; empty: "
            "none"
        ),
    )
    lightstream_mcp_host: str = Field(
        default="127.0.0.1", description="where `lightstream mcp --http` listens"
    )
    lightstream_mcp_names: str = Field(
        default="",
        description="further names and addresses under which its clients reach it, with commas",
    )

    _has_address = field_validator("lightstream_api_url")(http_address)


def read_settings() -> CommandSettings:
    """Read the settings. Raises ConfigurationError."""
    return CommandSettings()
